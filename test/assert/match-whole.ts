import type { Test } from 'tap'

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

// Where `found` holds more than `pattern` says although nothing may be left out there: a longer array, or anything where {} is meant.
function excess(found: unknown, pattern: unknown, path: string): string | undefined {
  if (!isContainer(found) || !isContainer(pattern)) return undefined
  if (Array.isArray(pattern)) {
    if (!Array.isArray(found)) return `${path} is no array`
    if (found.length !== pattern.length) return `${path} has ${found.length} elements, expected ${pattern.length}`
    return pattern.map((element, index) => excess(found[index], element, `${path}[${index}]`)).find(Boolean)
  }
  if (!isPlain(pattern)) return undefined
  const keys = Object.keys(pattern)
  if (keys.length === 0 && Object.keys(found).length > 0) return `${path} has ${Object.keys(found).join(', ')}, expected {}`
  return keys.map(key => excess(Reflect.get(found, key), Reflect.get(pattern, key), `${path}.${key}`)).find(Boolean)
}

// As t.match, but an array has exactly the elements of the pattern, [] is an empty array and {} an empty object. tap itself takes an
// array in a pattern for a prefix, and [] and {} for anything.
export function matchWhole(t: Test, found: unknown, pattern: unknown, message?: string): boolean {
  const problem = excess(found, pattern, 'it')
  if (problem === undefined) return t.match(found, pattern, ...(message === undefined ? [] : ([message] as const)))
  return t.fail([message, problem].filter(Boolean).join(': '), { found, wanted: pattern })
}
