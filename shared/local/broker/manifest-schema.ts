// The fields of Knative's kinds that the broker reads. Strict: Knative's webhook refuses unknown fields too, which finds typos.
import { Type, type Static } from 'typebox'

const strict = { additionalProperties: false }
const text = Type.String()
const name = Type.String({ minLength: 1 })
const texts = Type.Record(Type.String(), Type.String())

const Metadata = Type.Object({
  name,
  namespace: Type.Optional(text),
  labels: Type.Optional(texts),
  annotations: Type.Optional(texts)
})

const Reference = Type.Object(
  {
    apiVersion: Type.Optional(text),
    group: Type.Optional(text),
    kind: name,
    name,
    namespace: Type.Optional(text),
    address: Type.Optional(text)
  },
  strict
)

export const Destination = Type.Object(
  { ref: Type.Optional(Reference), uri: Type.Optional(name), CACerts: Type.Optional(text), audience: Type.Optional(text) },
  { ...strict, minProperties: 1 }
)
export type Destination = Static<typeof Destination>

const Delivery = Type.Object(
  {
    deadLetterSink: Type.Optional(Destination),
    retry: Type.Optional(Type.Integer({ minimum: 0 })),
    timeout: Type.Optional(text),
    backoffPolicy: Type.Optional(Type.Enum(['linear', 'exponential'])),
    backoffDelay: Type.Optional(text),
    retryAfterMax: Type.Optional(text),
    format: Type.Optional(Type.Enum(['json', 'binary']))
  },
  strict
)
export type DeliverySpec = Static<typeof Delivery>

export interface FilterSpec {
  exact?: Record<string, string>
  prefix?: Record<string, string>
  suffix?: Record<string, string>
  all?: FilterSpec[]
  any?: FilterSpec[]
  not?: FilterSpec
  cesql?: string
}
const Filter = Type.Cyclic(
  {
    Filter: Type.Object(
      {
        exact: Type.Optional(texts),
        prefix: Type.Optional(texts),
        suffix: Type.Optional(texts),
        all: Type.Optional(Type.Array(Type.Ref('Filter'))),
        any: Type.Optional(Type.Array(Type.Ref('Filter'))),
        not: Type.Optional(Type.Ref('Filter')),
        cesql: Type.Optional(text)
      },
      strict
    )
  },
  'Filter'
)

const Overrides = Type.Object({ extensions: Type.Optional(texts) }, strict)

const kind = <Spec extends Parameters<typeof Type.Optional>[0]>(spec: Spec) =>
  Type.Object({ apiVersion: text, kind: text, metadata: Metadata, spec, status: Type.Optional(Type.Unknown()) }, strict)

export const Broker = kind(
  Type.Optional(Type.Object({ config: Type.Optional(Reference), delivery: Type.Optional(Delivery) }, strict))
)

export const Trigger = kind(
  Type.Object(
    {
      broker: name,
      filter: Type.Optional(Type.Object({ attributes: Type.Optional(texts) }, strict)),
      filters: Type.Optional(Type.Array(Filter)),
      subscriber: Destination,
      delivery: Type.Optional(Delivery)
    },
    strict
  )
)
export type TriggerSpec = Static<typeof Trigger>['spec']

export const PingSource = kind(
  Type.Object(
    {
      schedule: Type.Optional(name),
      timezone: Type.Optional(text),
      contentType: Type.Optional(text),
      data: Type.Optional(text),
      dataBase64: Type.Optional(text),
      sink: Destination,
      ceOverrides: Type.Optional(Overrides)
    },
    strict
  )
)
export type PingSourceSpec = Static<typeof PingSource>['spec']

export const SinkBinding = kind(
  Type.Object(
    {
      subject: Type.Object(
        {
          apiVersion: text,
          kind: name,
          name: Type.Optional(name),
          namespace: Type.Optional(text),
          selector: Type.Optional(Type.Object({ matchLabels: texts }, strict))
        },
        strict
      ),
      sink: Destination,
      ceOverrides: Type.Optional(Overrides)
    },
    strict
  )
)
export type SinkBindingSpec = Static<typeof SinkBinding>['spec']
