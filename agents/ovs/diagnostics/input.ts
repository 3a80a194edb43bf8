// What may be asked, checked once at the edge (OV-57, OV-61). What cannot be expressed here cannot reach a daemon.
import { Type, type Static, type TSchema } from 'typebox'
import { Check } from 'typebox/schema' // compiling would cost more memory than all the rest of the endpoints
import { Refusal } from './refusal.ts'

const name = Type.String({ minLength: 1, maxLength: 64 })

const trace = Type.Object(
  {
    bridge: name,
    // no blank, no semicolon, and no dash in front: neither an option nor packet bytes can be passed
    flow: Type.String({ maxLength: 1024, pattern: '^[A-Za-z0-9_.:,=/()+\\[\\]][A-Za-z0-9_.:,=/()+\\[\\]-]*$' }),
    ctNext: Type.Optional(Type.Array(Type.Enum(['trk', 'new', 'est', 'rel', 'rpl', 'inv', 'dnat', 'snat']), { maxItems: 8 }))
  },
  { additionalProperties: false }
)
export type TraceWish = Static<typeof trace>

const capture = Type.Object(
  {
    bridge: name,
    port: Type.Optional(name),
    mode: Type.Optional(Type.Enum(['headers', 'mirror'])),
    seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
    maxBytes: Type.Optional(Type.Integer({ minimum: 1024, maximum: 16 * 1024 * 1024 })),
    headerBytes: Type.Optional(Type.Integer({ minimum: 64, maximum: 256 })),
    sampling: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
    outputPort: Type.Optional(name)
  },
  { additionalProperties: false }
)
export type CaptureRequest = Static<typeof capture>

const schemas = { trace, capture }
type Inputs = { trace: TraceWish; capture: CaptureRequest }

export function readInput<K extends keyof Inputs>(kind: K, body: string): Inputs[K] {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw new Refusal(400, 'the body is not JSON')
  }
  const schema = schemas[kind]
  if (Check(schema, value)) return value as Inputs[K]
  const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  const wrong = Object.entries<TSchema>(schema.properties).filter(([field, type]) => field in given && !Check(type, given[field]))
  const strange = Object.keys(given).filter(field => !Object.hasOwn(schema.properties, field))
  const fields = [...wrong.map(([field]) => field), ...strange]
  throw new Refusal(400, fields.length > 0 ? `not valid: ${fields.join(', ').slice(0, 200)}` : 'something is missing')
}
