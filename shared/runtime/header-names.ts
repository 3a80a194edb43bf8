/** What the name of a header says: which attribute of the event it is, or what else it is called in lower case. */
export interface Meaning {
  attribute: string
  header: string
}

const known = new Map<string, Meaning>()
const room = 500 // names come from outside: a sender must not be able to fill our memory with them

/** Every event has the same dozen names, in the case that its sender prefers. */
export function meaningOf(name: string): Meaning {
  const found = known.get(name)
  if (found !== undefined) return found
  const header = name.toLowerCase()
  const meaning = { header, attribute: header.startsWith('ce-') ? header.slice(3) : '' }
  if (known.size < room) known.set(name, meaning)
  return meaning
}
