// A CloudEvent as the broker holds it, read from either content mode (CloudEvents HTTP binding 1.0.2 §3).
import type { Headers } from './types.ts'

export interface Event {
  /** Context attributes and extensions by name, datacontenttype among them. */
  attributes: Record<string, string>
  body: Buffer
}

/** Not a CloudEvent, or not a valid one. */
export class BadEvent extends Error {
  override name = 'BadEvent'
}

const BATCH = 'application/cloudevents-batch'
const STRUCTURED = /^application\/cloudevents(\+|$)/

export const mediaType = (headers: Headers): string => (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()

/** Whether an answer claims to be a CloudEvent; whether it is a valid one, parseEvent tells. */
export const claimsEvent = (headers: Headers): boolean =>
  headers['ce-specversion'] !== undefined || mediaType(headers).startsWith('application/cloudevents')

export function parseEvent(headers: Headers, body: Buffer): Event {
  const media = mediaType(headers)
  if (media.startsWith(BATCH)) throw new BadEvent('batch mode is not supported')
  const event = STRUCTURED.test(media) ? parseStructured(media, body) : parseBinary(headers, body)
  const problem = findProblem(event.attributes)
  if (problem) throw new BadEvent(problem)
  return event
}

function parseBinary(headers: Headers, body: Buffer): Event {
  const attributes: Record<string, string> = {}
  for (const name in headers) if (name.startsWith('ce-')) attributes[name.slice(3)] = headers[name]!
  if (headers['content-type']) attributes.datacontenttype = headers['content-type']
  return { attributes, body }
}

function parseStructured(media: string, body: Buffer): Event {
  if (media !== 'application/cloudevents+json') throw new BadEvent(`${media} is not supported`)
  const { data, data_base64: base64, ...rest } = parseObject(body)
  const attributes: Record<string, string> = {}
  for (const [name, value] of Object.entries(rest)) {
    if (value === null) continue // the same as absent (JSON format §2.2)
    if (typeof value === 'string') attributes[name] = toHeader(value)
    else if (typeof value === 'number' || typeof value === 'boolean') attributes[name] = String(value)
    else throw new BadEvent(`attribute ${name} is neither text, number nor boolean`)
  }
  return { attributes, body: structuredData(attributes, data, base64) }
}

function parseObject(body: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch (cause) {
    throw new BadEvent('the body is not JSON', { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadEvent('the body is not a JSON object')
  return value as Record<string, unknown>
}

function structuredData(attributes: Record<string, string>, data: unknown, base64: unknown): Buffer {
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64')
  if (data === undefined) return Buffer.alloc(0)
  // Data without a type is JSON, and says so once it leaves the JSON format (CloudEvents §3.2 datacontenttype).
  attributes.datacontenttype ??= 'application/json'
  if (attributes.datacontentencoding === 'base64' && typeof data === 'string') {
    delete attributes.datacontentencoding // 0.3 only: binary mode has no such attribute
    return Buffer.from(data, 'base64')
  }
  const json = /[/+]json\s*(;|$)/i.test(attributes.datacontenttype)
  return Buffer.from(json || typeof data !== 'string' ? JSON.stringify(data) : data)
}

/** What a header line cannot carry is percent-encoded (HTTP binding §3.1.3.2). */
const toHeader = (value: string): string => value.replace(/[^\x20-\x7e]+/gu, encodeURIComponent)

const NAME = /^[a-z0-9]+$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i

function findProblem(attributes: Record<string, string>): string | undefined {
  const { specversion, time } = attributes
  if (specversion === undefined) return 'no CloudEvent: there is no specversion'
  if (specversion !== '1.0' && specversion !== '0.3') return `specversion ${specversion} is not supported`
  for (const name of ['id', 'type', 'source']) if (!attributes[name]) return `${name} is missing or empty`
  for (const name in attributes) if (!NAME.test(name)) return `attribute name ${name} is not of a-z and 0-9`
  if (time !== undefined && (!TIME.test(time) || Number.isNaN(Date.parse(time)))) return `time ${time} is not of RFC 3339`
  return undefined
}
