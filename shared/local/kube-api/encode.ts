// JSON as bytes. An object of the store never changes, and is told often: in every list, to every watch, to a dozen readers. Its bytes are made once.
import type { Fields } from './object.ts'

const known = new WeakMap<object, Buffer>()

/** Of an object that nobody changes any more. */
export function bytesOf(object: object): Buffer {
  const made = known.get(object)
  if (made) return made
  const bytes = Buffer.from(JSON.stringify(object))
  known.set(object, bytes)
  return bytes
}

const comma = Buffer.from(',')
const listEnd = Buffer.from(']}')
const eventEnd = Buffer.from('}\n')

export function bytesOfList({ items, ...rest }: Fields & { items: readonly object[] }): Buffer {
  const start = Buffer.from(JSON.stringify({ ...rest, items: [] }).slice(0, -listEnd.length))
  return Buffer.concat([start, ...items.flatMap((item, at) => (at === 0 ? [bytesOf(item)] : [comma, bytesOf(item)])), listEnd])
}

export const bytesOfEvent = (type: string, object: object): Buffer =>
  Buffer.concat([Buffer.from(`{"type":"${type}","object":`), bytesOf(object), eventEnd])
