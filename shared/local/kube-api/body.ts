// Reads a request's body within the limit, and parses it with the words that the real server has for garbage.
import type { IncomingMessage } from 'node:http'
import { parseDocument } from 'yaml'
import type { Resource } from './resource.ts'
import { ApiError, badRequest } from './status.ts'

export const largestBody = 3 * 1024 * 1024
/** An oversized body is read to its end, so that the client sees the answer; but not for ever. */
const patience = 16 * largestBody

/** A request, wherever it comes from. */
export interface Asked extends Pick<IncomingMessage, 'method' | 'url' | 'headers'>, AsyncIterable<Buffer> {
  destroy(): unknown
}

export async function readBody(request: Asked): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= largestBody) chunks.push(chunk)
    else chunks.length = 0
    if (size > patience) request.destroy()
  }
  if (size > largestBody) throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${largestBody}`)
  return Buffer.concat(chunks).toString()
}

export const mediaType = (header: string | undefined): string => header?.split(';')[0]?.trim() || 'application/json'

const unknownFormat = (accepted: string[]): ApiError =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  )

export function parseObject({ kind }: Pick<Resource, 'kind'>, type: string, text: string): unknown {
  if (type === 'application/yaml') return parseYaml(text)
  if (type !== 'application/json') throw unknownFormat(['application/json', 'application/yaml'])
  try {
    return JSON.parse(text)
  } catch (err) {
    const why = text === '' ? 'unexpected end of JSON input (<empty>)' : `${goSyntaxError(err, text)} (${text.slice(0, 100)})`
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why}`
    )
  }
}

export function parsePatch(accepted: string[], type: string, text: string): unknown {
  if (!accepted.includes(type)) throw unknownFormat(accepted)
  if (type === 'application/apply-patch+yaml') return parseYaml(text)
  try {
    return JSON.parse(text)
  } catch (err) {
    throw badRequest(`error decoding patch: ${goSyntaxError(err, text)}`)
  }
}

// Most clients that apply send JSON, which is YAML too, and JSON is read a hundred times faster.
function parseYaml(text: string): unknown {
  if (text.startsWith('{')) {
    try {
      return JSON.parse(text)
    } catch {
      // YAML in flow style
    }
  }
  const document = parseDocument(text)
  const [error] = document.errors
  if (error) throw badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${error.message.split('\n')[0]}`)
  return document.toJS()
}

/** The commonest mistake in Go's words; others in V8's. */
function goSyntaxError(err: unknown, text: string): string {
  const { message } = err as Error
  const [, position] = /Expected property name .* at position (\d+)/.exec(message) ?? []
  return position ? `invalid character '${text[Number(position)]}' looking for beginning of object key string` : message
}
