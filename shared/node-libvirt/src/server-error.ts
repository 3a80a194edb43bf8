// struct virNetMessageError: int code, int domain, string? message, int level, domain?, 3 x string?, 2 x int, network?
import { readDomain, readUuid } from './domain.ts'
import type { ServerError } from './errors.ts'
import type { Reader } from './xdr/reader.ts'

export function readServerError(r: Reader): ServerError {
  const text = () => r.optional(() => r.string())
  const number = r.int()
  const domain = r.int()
  const message = text() ?? `error ${number}`
  const level = r.int()
  r.optional(readDomain) // unused by libvirt, as are the integers and the network
  const details = [text(), text(), text()].filter(detail => detail !== null)
  r.int()
  r.int()
  r.optional(() => ({ name: r.string(), uuid: readUuid(r) }))
  return { number, domain, level, message, details }
}
