// remote_nonnull_domain: string name, uuid, int id
import { LibvirtError } from './errors.ts'
import type { Reader } from './xdr/reader.ts'
import type { Writer } from './xdr/writer.ts'

export interface Domain {
  readonly name: string
  /** 8-4-4-4-12, lower case: the key to keep. */
  readonly uuid: string
  /** -1 while off; in a last "stopped" event possibly too. */
  readonly id: number
}

export const DOMAIN_BYTES = 24 // the least one takes: an empty name, the UUID, the id

export function writeDomain(w: Writer, { name, uuid, id }: Domain): Writer {
  return writeUuid(w.string(name), uuid).int(id)
}

export function readDomain(r: Reader): Domain {
  return { name: r.string(), uuid: readUuid(r), id: r.int() }
}

export function writeUuid(w: Writer, uuid: string): Writer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex')
  if (bytes.length !== 16) throw new LibvirtError('argument', `not a UUID: ${uuid}`)
  return w.fixed(bytes)
}

export function readUuid(r: Reader): string {
  return r
    .fixed(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
