import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import { domainChanged, domainStopped, migrationEnded, postcopyFailed } from '../../shared/events/libvirt.ts'
import { novaServerChanged } from '../../shared/events/nova.ts'
import { evictionChanged } from '../../shared/events/objects.ts'
import { openStackFields } from '../../shared/openstack/config.ts'
import { Duration } from '../../shared/runtime/config.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'
import { manager } from './decide.ts'
import { createEngine, type Engine } from './engine.ts'
import { createMemory } from './memory.ts'
import { evictMetrics } from './metrics.ts'

const count = (byDefault: number, description: string) => Type.Integer({ minimum: 1, default: byDefault, description })
const flag = (description: string) => Type.Boolean({ default: false, description })

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  observe: flag('record what would be done and write nothing but status (HV-8)'),
  hostForms: Type.Array(Type.String(), {
    default: [],
    description: 'further names under which Nova may know a host, as {name}.example.com'
  }),
  migrationNamespace: Type.String({ default: 'monsoon3', description: 'where Migration objects are' }),
  maxParallel: count(4, 'moves in flight from one host, unless the Eviction says otherwise'),
  maxAttempts: count(3, 'moves that are started for one server'),
  timeoutPerInstance: Duration({ default: '30m', description: 'how long one move may take' }),
  destinationLimit: count(2, 'moves in flight to one host'),
  zoneLimit: count(20, 'moves in flight in one zone; twice as many in an emergency'),
  regionLimit: count(50, 'moves in flight altogether'),
  traitLimits: Type.Array(Type.String({ pattern: '^[A-Z0-9_]+=[0-9]+$' }), {
    default: [],
    description: 'TRAIT=N: at most N moves from a host with the trait'
  }),
  priorityKey: Type.String({ default: 'priority', description: 'key of the server metadata that says who goes first' }),
  settleGap: Duration({ default: '500ms', description: 'between the two looks at incoming moves' }),
  settleLimit: Duration({ default: '15m', description: 'how long incoming moves are waited for' }),
  verifyGap: Duration({ default: '5s', description: 'between the two looks at the empty host' }),
  hostMissing: Duration({ default: '5m', description: 'after which an unknown or dead host ends the eviction' }),
  heartbeatStale: Duration({ default: '90s', description: 'age at which a heartbeat counts as lost' }),
  resetStuck: flag('reset the state of a server that Nova left in migrating'),
  confirmResize: flag("confirm a user's resize after an hour"),
  resetAndRetry: flag('reset the state of a server that a failed move left in ERROR while libvirt runs it, and try again'),
  resumeSuspended: flag('resume a suspended server, move it and suspend it again'),
  ...openStackFields
})

interface Deps {
  engine: Engine
  clock: () => Date
}

const moved = (event: string, detail: string): boolean => detail.toLowerCase() === 'migrated' && /stopped|resumed/i.test(event)

/** Nova ends a part of a move, and not the move: nothing is to be done then. */
const inTheMiddle = /^instance\.(live_migration_pre|resize_prep|resize)\./

/** An agent told of a server: whichever Eviction it belongs to looks again. Most domains are nobody's business here. */
async function heard(server: string, host: string, { engine }: Deps): Promise<void> {
  const open = await engine.open()
  const concerned = open.filter(
    ({ spec, status }) => spec.hypervisor === host || status?.instances?.some(({ id }) => id === server)
  )
  await Promise.all(concerned.map(({ metadata }) => engine.hint(metadata.name, server)))
}

export default defineFunction({
  name: 'evict',
  config,

  async open({ kubeconfig, observe, hostForms, migrationNamespace, ...given }, platform): Promise<Deps> {
    const { clock, log, emit, metrics, onClose } = platform
    // after the port is open: half of a cold start is loading these
    const [{ connect }, { isExtended }, { openCloud, tellUnsupported }, { createListings }] = await Promise.all([
      import('../../shared/kube/index.ts'),
      import('../../shared/kube/extended.ts'),
      import('../../shared/openstack/connect.ts'),
      import('../../shared/openstack/listings.ts')
    ])
    const kube = await connect({ manager, log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const cloud = await openCloud(given, platform, manager)
    void tellUnsupported(cloud, log)
    const { maxParallel, maxAttempts, destinationLimit, zoneLimit, regionLimit, traitLimits, priorityKey } = given
    const { resetStuck, confirmResize, resetAndRetry, resumeSuspended } = given
    const engine = createEngine({
      kube,
      cloud,
      listings: createListings(cloud, { now: () => clock().getTime() }),
      memory: createMemory(),
      hostForms,
      observe,
      migrationNamespace,
      extended: await isExtended(kube, log, metrics, 'evictions.kvm.cloud.sap'),
      clock,
      log,
      emit,
      measure: evictMetrics(metrics),
      options: {
        maxParallel,
        maxAttempts,
        destinationLimit,
        zoneLimit,
        regionLimit,
        traitLimits,
        priorityKey,
        timeoutPerInstanceMs: given.timeoutPerInstance,
        settleGapMs: given.settleGap,
        settleLimitMs: given.settleLimit,
        verifyGapMs: given.verifyGap,
        hostMissingMs: given.hostMissing,
        heartbeatStaleMs: given.heartbeatStale,
        policy: { resetStuck, confirmResize, resetAndRetry, resumeSuspended }
      }
    })
    onClose(() => engine.close())
    return { engine, clock }
  },

  reactions: [
    // its own writes of the status are no news
    on(
      evictionChanged,
      { key: ({ data }) => data.name, changed: ['created', 'spec', 'deleting'] },
      ({ data }, { engine }: Deps) => engine.pass(data.name)
    ),
    on(migrationEnded, { key: ({ data }) => data.server }, ({ data }, deps: Deps) => heard(data.server, data.host, deps)),
    on(postcopyFailed, { key: ({ data }) => data.server }, ({ data }, deps: Deps) => heard(data.server, data.host, deps)),
    // EV-13: Nova's own word, for who lets its notifications in
    on(novaServerChanged, { key: ({ data }) => data.server }, async ({ data }, deps: Deps) => {
      if (!inTheMiddle.test(data.event)) await heard(data.server, data.host ?? '', deps)
    }),
    ...[domainChanged, domainStopped].map(kind =>
      on(kind, { key: ({ data }) => data.server }, async ({ data }, deps: Deps) => {
        if (moved(data.event, data.detail) || /undefined|stopped/i.test(data.event)) await heard(data.server, data.host, deps)
      })
    ),
    on(tick, { key: () => 'tick' }, async ({ data }, { engine, clock }: Deps) => {
      const nowMs = clock().getTime()
      const all = await engine.open(data.tick === 'slow')
      const due = all.filter(
        ({ status }) => data.tick === 'slow' || !status?.nextCheckAt || Date.parse(status.nextCheckAt) <= nowMs
      )
      const results = await Promise.allSettled(due.map(({ metadata }) => engine.pass(metadata.name)))
      const failures = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
      if (failures.length > 0)
        throw new AggregateError(failures, `${failures.length} of ${due.length} evictions could not be looked at`)
    })
  ]
})
