// What an Eviction may be told, and a Hypervisor may tell beforehand for the Evictions made for it (both X: no schema default, HV-3).
import { duration, exactlyOne, int32, list, object, text, word } from './vocabulary.ts'

const exclusion = object(
  'Servers that are left alone',
  {
    id: text('Server UUID', { minLength: 1 }),
    name: text('Server name', { minLength: 1 }),
    metadata: object(
      'One entry of the server metadata',
      { key: text('Metadata key', { minLength: 1 }), value: text('Metadata value') },
      { required: ['key', 'value'] }
    )
  },
  { rules: [exactlyOne('id', 'name', 'metadata')] }
)

export const evictionOptions = {
  strategy: word('How servers are moved; auto moves running ones live and stopped ones cold', ['auto', 'live', 'cold']),
  maxParallel: int32('Moves in flight at once', { minimum: 1 }),
  maxAttempts: int32('Moves that are started for one server at most', { minimum: 1 }),
  timeoutPerInstance: duration('How long one move may take'),
  order: word('Which servers go first', ['priority', 'smallestFirst', 'largestFirst']),
  exclude: list('Servers that are left alone', exclusion, { maxItems: 500 })
}
