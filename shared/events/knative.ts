import { Type } from 'typebox'
import { event, type EventKind } from './kind.ts'

/** The two ticks of design.md §6: `fast` looks at open workflows, `slow` compares everything. */
export const tick = event({
  type: 'dev.knative.sources.ping',
  data: Type.Object({ tick: Type.Union([Type.Literal('fast'), Type.Literal('slow')]) }),
  source: '/apis/v1/namespaces/<namespace>/pingsources/<name>',
  emittedBy: 'PingSource',
  reactedBy: [
    'hypervisor',
    'onboarding',
    'maintenance',
    'evict',
    'aggregates',
    'traits',
    'offboarding',
    'node-release',
    'certificate',
    'rolling',
    'migration',
    'ha',
    'machine',
    'admission-certificate'
  ],
  summary: 'time passed; every function reaches the right state from this alone'
})

const object = Type.Object({ kind: Type.Optional(Type.String()), apiVersion: Type.Optional(Type.String()) })
const apiServer = (mode: 'resource' | 'ref', verb: 'add' | 'update' | 'delete') =>
  event({
    type: `dev.knative.apiserver.${mode}.${verb}`,
    data: object,
    source: 'https://<API server>',
    emittedBy: 'ApiServerSource (optional)',
    reactedBy: ['every function that reacts to the object'],
    summary: `an object, ${mode === 'ref' ? 'as a reference' : 'whole'}: ${verb}`
  })

export const knativeKinds: readonly EventKind[] = [
  tick,
  ...(['resource', 'ref'] as const).flatMap(mode => (['add', 'update', 'delete'] as const).map(verb => apiServer(mode, verb)))
]
