// Every refusal of the API is a Status object; the words are those of the real server.
import type { Fields } from './object.ts'

export interface Cause {
  reason: string
  message: string
  field: string
}

interface Details {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: Array<Partial<Cause>>
  retryAfterSeconds?: number
}

export class ApiError extends Error {
  readonly code: number
  readonly reason: string
  readonly details: Details | undefined
  constructor(code: number, reason: string, message: string, details?: Details) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = details
  }
  toStatus(): Fields {
    const { code, reason, message, details } = this
    const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message }
    return { ...head, ...(reason && { reason }), ...(details && { details }), code }
  }
}

export interface Subject {
  group: string
  plural: string
  kind: string
}

const qualified = (name: string, group: string): string => (group ? `${name}.${group}` : name)
const about = ({ group, plural }: Subject, name: string) => ({ ...(name && { name }), ...(group && { group }), kind: plural })

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message)
export const unauthorized = () => new ApiError(401, 'Unauthorized', 'Unauthorized')
export const internal = (message: string) => new ApiError(500, '', message)
export const noSuchPath = () => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})
export const methodNotAllowed = () =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})

export const notFound = (of: Subject, name: string) =>
  new ApiError(404, 'NotFound', `${qualified(of.plural, of.group)} "${name}" not found`, about(of, name))

export const alreadyExists = (of: Subject, name: string) =>
  new ApiError(409, 'AlreadyExists', `${qualified(of.plural, of.group)} "${name}" already exists`, about(of, name))

export const forbidden = (of: Subject, name: string, why: string) =>
  new ApiError(
    403,
    'Forbidden',
    `${qualified(of.plural, of.group)} ${name ? `"${name}" ` : ''}is forbidden: ${why}`,
    about(of, name)
  )

export const conflict = (of: Subject, name: string, why = modified) =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(of.plural, of.group)} "${name}": ${why}`,
    about(of, name)
  )
const modified = 'the object has been modified; please apply your changes to the latest version and try again'

export const requestTooLarge = () => new ApiError(500, '', 'etcdserver: request is too large')

export const expired = (message: string) => new ApiError(410, 'Expired', message)

export const tooLargeRevision = (asked: number, current: number) =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1
  })

/** `kind` is the object's kind, or the plural where the real server's storage layer speaks. */
export function invalid(kind: string, group: string, name: string, causes: Cause[]): ApiError {
  const lines = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))]
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`
  const details = { ...(name && { name }), ...(group && { group }), ...(kind && { kind }), causes }
  return new ApiError(422, 'Invalid', `${qualified(kind, group)} "${name}" is invalid: ${text}`, details)
}

export const invalidOption = (options: string, cause: Cause) => invalid(options, 'meta.k8s.io', '', [cause])
