import { isUtf8 } from 'node:buffer'
import { changes, type Change, type Received } from '../events/kind.ts'
import { meaningOf } from './header-names.ts'

// CloudEvents 1.0 over HTTP: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
// and its JSON format. The SDK's reader takes 26 µs an event and parses twice; this one is on the path of every event.

/** Not a CloudEvent that can be read: 400, or 415 when it is only the wrong format. */
export class Malformed extends Error {
  override name = 'Malformed'
  readonly status: 400 | 415
  constructor(message: string, status: 400 | 415 = 400) {
    super(message)
    this.status = status
  }
}

/** Names and values in turns as they came, like Node's `rawHeaders`, or by name in lower case. */
export type Headers = readonly string[] | Readonly<Record<string, string | string[] | undefined>>

type Attributes = Record<string, string>

const attributeName = /^[a-z0-9]+$/
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const traceparentForm = /^[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/
const jsonMedia = /^[\w.+-]+\/(?:[\w.+-]+\+)?json$/
// A key that would set the prototype of whatever the data is merged into, however it is escaped.
const prototypeKey =
  /"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"\s*:/
// All that is not an extension.
const ownAttributes = new Set(
  'specversion id source type subject time datacontenttype dataschema changed partitionkey sequence traceparent trace'.split(' ')
)
const knownChanges: ReadonlySet<string> = new Set(changes)

/** One event in binary or structured mode, any number in batch mode. */
export function decode(headers: Headers, body: Buffer): Received[] {
  const { media, traceparent, attributes } = readHeaders(headers)
  if (media === 'application/cloudevents+json') return [structured(parseJson(body), traceparent)]
  if (media === 'application/cloudevents-batch+json') return batch(parseJson(body), traceparent)
  if (media.startsWith('application/cloudevents')) throw new Malformed(`content type ${media} is not supported`, 415)
  if (attributes.specversion === undefined) throw new Malformed('not a CloudEvent: no ce-specversion')
  return [received(attributes, dataOf(media, body), traceparent)]
}

interface Read {
  media: string
  traceparent: string | undefined
  attributes: Attributes
}

// Not by way of Node's `headers`: to build that object costs as much as to read all attributes from the list.
function readHeaders(headers: Headers): Read {
  const list = isList(headers) ? headers : Object.entries(headers).flat()
  const read: Read = { media: '', traceparent: undefined, attributes: {} }
  for (let i = 0; i < list.length; i += 2) {
    const value = list[i + 1]
    // An empty header is an absent attribute: Knative sends `ce-namespace:` for cluster-scoped objects.
    if (typeof value !== 'string' || value === '') continue
    const { attribute, header } = meaningOf(list[i] as string)
    if (attribute !== '') addAttribute(read.attributes, attribute, headerText(value))
    else if (header === 'content-type') read.media ||= mediaOf(value)
    else if (header === 'traceparent') read.traceparent = together(read.traceparent, value)
  }
  return read
}

const isList = (headers: Headers): headers is readonly string[] => Array.isArray(headers)

function addAttribute(attributes: Attributes, name: string, text: string): void {
  attributes[name] = Object.hasOwn(attributes, name) ? together(attributes[name], text) : text
}

// RFC 9110 §5.3: a header that comes twice is one list.
const together = (before: string | undefined, value: string): string => (before === undefined ? value : `${before}, ${value}`)

function batch(value: unknown, traceparent: string | undefined): Received[] {
  if (!Array.isArray(value)) throw new Malformed('a batch must be a JSON array')
  return value.map(event => structured(event, traceparent))
}

function structured(value: unknown, traceparent: string | undefined): Received {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Malformed('an event must be a JSON object')
  const { data, data_base64: base64, ...rest } = value as Record<string, unknown>
  const attributes: Attributes = {}
  for (const [name, attribute] of Object.entries(rest)) {
    const text = attributeText(name, attribute)
    if (text !== '') attributes[name] = text
  }
  const media = mediaOf(attributes.datacontenttype)
  if (base64 === undefined) {
    if (data !== undefined && !isJson(media)) throw new Malformed(`data of type ${media} is not supported`, 415)
    return received(attributes, data, traceparent)
  }
  if (typeof base64 !== 'string' || data !== undefined) throw new Malformed('data_base64 must be a string and exclude data')
  return received(attributes, dataOf(media, Buffer.from(base64, 'base64')), traceparent)
}

function received(attributes: Attributes, data: unknown, header: string | undefined): Received {
  const { specversion, id, source, type, subject, time, changed, partitionkey, sequence } = attributes
  const { trace, traceparent = trace ?? header } = attributes
  if (specversion !== '1.0') throw new Malformed('specversion must be 1.0')
  if (id === undefined || source === undefined || type === undefined) throw new Malformed('id, source and type are required')
  const event: Received = { id, type, source, data, extensions: {} }
  if (subject !== undefined) event.subject = subject
  if (time !== undefined) event.time = checkedTime(time)
  if (partitionkey !== undefined) event.partitionkey = partitionkey
  if (sequence !== undefined) event.sequence = sequence
  if (traceparent !== undefined && traceparentForm.test(traceparent)) event.traceparent = traceparent
  const words = changed?.split(',').map(word => word.trim())
  // A word this version does not know may mean anything, and so does the list that holds it.
  if (words?.every(word => knownChanges.has(word))) event.changed = words as Change[]
  for (const name in attributes) if (!ownAttributes.has(name)) event.extensions[checkedName(name)] = attributes[name] as string
  return event
}

function dataOf(media: string, body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isJson(media)) throw new Malformed(`data of type ${media} is not supported`, 415)
  return parseJson(body)
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new Malformed('the body is not UTF-8')
  const text = body.toString()
  if (prototypeKey.test(text)) throw new Malformed('the key __proto__ is not allowed')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw Object.assign(new Malformed('the body is not JSON'), { cause })
  }
}

/** `Application/JSON; charset=utf-8` → `application/json` */
function mediaOf(contentType = ''): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

// Data without a declared type is JSON (CloudEvents JSON format §3.1).
const isJson = (media: string): boolean => media === '' || media === 'application/json' || jsonMedia.test(media)

/** HTTP binding §3.1.3.2: first the quotes of RFC 7230, then one round of percent-decoding. */
function headerText(value: string): string {
  const bare =
    value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
  if (!bare.includes('%')) return bare
  try {
    return decodeURIComponent(bare)
  } catch {
    return bare // a sender that does not encode, and means its per cent sign
  }
}

function attributeText(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Malformed(`attribute ${name} must be a string, a number or a boolean`)
}

function checkedName(name: string): string {
  if (!attributeName.test(name)) throw new Malformed('an attribute name has other characters than a-z and 0-9')
  return name
}

function checkedTime(time: string): string {
  if (!rfc3339.test(time)) throw new Malformed('time must be an RFC 3339 timestamp')
  return time
}
