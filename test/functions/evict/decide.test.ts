// What one pass decides before anything moves: EV-1, EV-3, EV-20, EV-24, HV-46.
import t from 'tap'
import { decide, isFinal, manager, markOf } from '../../../functions/evict/decide.ts'
import type { Options, Seen, Status, Verdict } from '../../../functions/evict/seen.ts'
import type { Step } from '../../../functions/evict/step.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import { options } from './options.ts'
import { eviction, hypervisor, peer, seen, service, unregistered } from './seen.ts'
import { ago, agoMs, now, record, server } from './server.ts'

type Spec = Partial<Eviction['spec']>
const verdicts: Verdict[] = ['Succeeded', 'SucceededWithExclusions', 'Cancelled', 'Failed', 'Planned']
const held: Record<string, Spec> = { Planned: { dryRun: true }, Cancelled: { cancel: 'Finish' } }

t.test('EV-24: what has ended stays so until a new order', async t => {
  const final = (status: Status, spec: Spec = {}) => isFinal(eviction(spec, status))
  for (const verdict of verdicts) {
    t.equal(final({ verdict }, held[verdict]), true, verdict)
    t.equal(final({ verdict }, { ...held[verdict], retryToken: 'again' }), false, `${verdict}, a new token`)
    t.equal(final({ verdict, retryToken: 'again' }, { ...held[verdict], retryToken: 'again' }), true, `${verdict}, its token`)
    t.equal(final({ verdict, retryToken: 'again' }, held[verdict]), false, `${verdict}, its token was taken away`)
  }
  for (const verdict of ['Incomplete', 'HostMissing'] as const)
    t.equal(final({ verdict }), false, `EV-24: ${verdict} is still watched`)
  t.equal(final({}), false)
  t.equal(isFinal(eviction({ retryToken: 'r' })), false)
  t.equal(final({ verdict: 'Planned' }), false, 'the plan is to be carried out')
  t.equal(final({ verdict: 'Cancelled' }, { cancel: '' }), false, 'it is wanted after all')
  t.equal(markOf(eviction()), 'eviction=e:')
  const told = (status: 'True' | 'False', reason: string): Status => ({
    conditions: [{ type: 'Evicting', status, reason, message: '', lastTransitionTime: ago(1) }]
  })
  for (const reason of ['Succeeded', 'Failed', 'Cancelled']) {
    t.equal(final(told('False', reason)), true, `EV-12b: another operator has ended it: ${reason}`)
    t.equal(final(told('False', reason), { retryToken: 'again' }), false, `EV-12b: … a new token: ${reason}`)
  }
  t.equal(final(told('True', 'Running')), false, 'EV-12b: another operator has begun it')
  t.equal(manager, 'drover-evict')
})

interface Given {
  spec?: Spec
  status?: Status
  metadata?: Partial<Eviction['metadata']>
  seen?: Partial<Seen>
  options?: Partial<Options>
}
const decided = ({ spec, status, metadata, seen: more, options: other }: Given): Step =>
  decide(seen({ eviction: eviction(spec, status, metadata), ...more }), now, { ...options, ...other })
/** What is done and said next. */
const brief = ({ phase, verdict, waitingFor, calls, nextCheckMs }: Step) => [phase, verdict, waitingFor, calls, nextCheckMs]

t.test(
  'HV-46: a server on a host that was called empty begins it anew while the host is held back for this Eviction',
  async t => {
    const marked = { service: service({ disabledReason: 'x eviction=e: y' }), servers: [server()] }
    const status: Status = { verdict: 'Succeeded', startedAt: ago(60) }
    const anew = (more: Partial<Seen>, change: Given = {}) => {
      const found = decided({ status, ...change, seen: { ...marked, ...more } })
      return [found.anew, found.startedMs, found.verdict]
    }
    const yes = [true, now, undefined]
    const no = [false, now - 3_600_000, 'Succeeded']
    t.strictSame(anew({}), yes)
    t.strictSame(anew({ servers: [] }), no)
    t.strictSame(anew({ service: service({ status: 'enabled', disabledReason: 'eviction=e:' }) }), no)
    t.strictSame(anew({ service: service() }), no)
    t.strictSame(anew({ service: service({ disabledReason: null }) }), no)
    t.strictSame(anew({}, { status: { ...status, verdict: 'HostMissing' } }), [false, now - 3_600_000, undefined], 'it is back')
    const byName = { metadata: { name: 'hv1' } }
    const inMaintenance = { service: service(), hypervisor: hypervisor({}, { maintenance: 'auto' }) }
    t.strictSame(anew(inMaintenance, byName), yes, 'by its maintenance')
    t.strictSame(anew(inMaintenance), no, 'an Eviction with another name is not of the maintenance')
    t.strictSame(anew({ service: service() }, byName), no)
    const annotations = { 'kvm.cloud.sap/emergency': 'true' }
    t.strictSame(anew({ service: service() }, { metadata: { name: 'hv1', annotations } }), yes, 'by an emergency')
    const again = decided({ status: { ...status, verdict: 'Incomplete', retryToken: 'a' } })
    t.strictSame([again.anew, again.startedMs], [true, now])
    t.equal(decided({}).startedMs, now)
  }
)

const unknown = (more: Partial<Seen> = {}) => ({
  host: undefined,
  service: undefined,
  hypervisor: unregistered(),
  ...more
})
const noService = 'a compute service in Nova: Nova has no compute service of this host'
const missing = (given: Given) => brief(decided({ ...given, seen: unknown(given.seen) }))

t.test('EV-1: a host that Nova does not know', async t => {
  const waits = ['Preflight', undefined, noService, [], 30_000]
  t.strictSame(missing({}), ['Done', 'Succeeded', undefined, [], 30_000], 'never registered, and runs nothing')
  for (const known of [{ serviceId: 'x' }, { hypervisorId: 'x' }, { nova: { host: 'x' } }])
    t.strictSame(missing({ seen: { hypervisor: unregistered(known) } }), waits, JSON.stringify(known))
  t.strictSame(missing({ status: { hypervisorServiceId: 'x' } }), waits, 'known when it began')
  t.strictSame(missing({ seen: { hypervisor: unregistered({ numInstances: 1 }) } }), waits, 'runs something')
  const instances = [{ id: 'x', name: 'x', active: true }]
  t.strictSame(missing({ seen: { hypervisor: unregistered({ instances }) } }), waits, 'runs something')
  const ambiguous = 'a compute service in Nova: AmbiguousHost: it may be x in Nova, and nothing says which'
  t.strictSame(missing({ seen: { alike: ['x'] } }), ['Preflight', undefined, ambiguous, [], 30_000])
  const nobody = 'a compute service in Nova: There is no Hypervisor hv1'
  t.strictSame(missing({ seen: { hypervisor: undefined } }), ['Preflight', undefined, nobody, [], 30_000])
  const after = (ms: number) => missing({ seen: { hypervisor: hypervisor() }, status: { startedAt: agoMs(ms) } })
  t.strictSame(after(299_999), waits)
  t.strictSame(after(300_000), ['Done', 'HostMissing', noService, [], 30_000])
  t.strictSame(missing({ status: { verdict: 'Failed' } }), ['Done', 'Failed', undefined, [], 30_000], 'what has ended stays so')
  t.equal(decided({ seen: { host: undefined } }).phase, 'Preflight', 'a service alone is not enough')
  t.equal(decided({ seen: { service: undefined } }).waitingFor, noService, 'nor is a name')
})

t.test('EV-3: a plan, with the outlook in its checks and how many would move at once', async t => {
  const found = decided({ spec: { dryRun: true }, seen: { servers: [server()], service: service({ status: 'enabled' }) } })
  t.strictSame(brief(found), ['Done', 'Planned', undefined, [], 30_000])
  t.equal(found.free, 2)
  t.strictSame(
    found.judged.map(({ entry }) => [entry.reason, entry.message]),
    [['Planned', 'Would be moved live. Mind that its disk is local.']]
  )
  t.strictSame(
    found.preflight.checks.map(({ check }) => check),
    ['ids', 'turn', 'disabled', 'alive', 'inventory', 'targets', 'plan', 'limits']
  )
  const moved: Status = { verdict: 'Planned', startedAt: ago(60) }
  const over = decided({ spec: { dryRun: true }, status: moved, seen: { servers: [server()] } })
  t.strictSame([...brief(over), over.judged.length], ['Done', 'Planned', undefined, [], 30_000, 1])
})

const enabled = service({ status: 'enabled' })
const down = (updated: string) => service({ state: 'down', updated })
const hostDown =
  'the host to be as it must be: HostDown: Nova does not hear from the compute service (down). See high availability'
const takes = 'the compute service to be disabled: The compute service takes new servers'
const running = { servers: [server()], records: [record()] }
const cold = record({ type: 'migration', status: 'finished' })
const confirms = {
  left: new Map([['s', server({ host: 'hv2', status: 'VERIFY_RESIZE', vmState: 'resized' })]]),
  records: [cold]
}
const shelved = { servers: [server({ status: 'SHELVED', vmState: 'shelved' })] }
const abort = { do: 'abort', server: 's', record: 1, why: 'Cancelled' }
const lastSeen = (minutes: number, startedMinutes: number, phase: 'Preflight' | 'Draining' = 'Preflight'): Given => ({
  status: { phase, startedAt: ago(startedMinutes) },
  seen: { service: down(ago(minutes)) }
})

const blocked: Array<[name: string, given: Given, wanted: unknown[]]> = [
  ['EV-2: it is disabled', { seen: { service: enabled } }, ['Preflight', undefined, takes, [{ do: 'disable' }], 0]],
  [
    'a cell that does not answer is not asked to disable it',
    { seen: { service: service({ status: 'unknown' }) } },
    [
      'Preflight',
      undefined,
      'the compute service to be disabled: Nova cannot say whether the compute service takes new servers: its cell does not answer',
      [],
      30_000
    ]
  ],
  [
    'EV-25: not disabled when it is cancelled',
    { spec: { cancel: 'Finish' }, seen: { service: enabled, ...running } },
    ['Preflight', undefined, takes, [], 15_000]
  ],
  [
    'EV-25: cancelled before anything moved',
    { spec: { cancel: 'Finish' }, seen: { service: enabled } },
    ['Done', 'Cancelled', undefined, [], 60_000]
  ],
  [
    'EV-25: Abort gives up moves also now',
    { spec: { cancel: 'Abort' }, seen: { service: down(ago(0)), ...running } },
    ['Preflight', undefined, hostDown, [abort], 15_000]
  ],
  [
    'EV-17: a cold move is confirmed also now',
    { seen: { service: down(ago(0)), ...confirms } },
    ['Preflight', undefined, hostDown, [{ do: 'confirm', server: 's' }], 15_000]
  ],
  [
    'EV-20: nothing else is asked for',
    { seen: { service: down(ago(0)), ...shelved } },
    ['Preflight', undefined, hostDown, [], 30_000]
  ],
  [
    'EV-20: a host that is lost in the middle',
    { status: { phase: 'Draining', startedAt: ago(60) }, seen: { service: down(ago(60)) } },
    ['Draining', undefined, hostDown, [], 30_000]
  ],
  [
    'EV-20: … or at the end',
    { status: { phase: 'Verifying', startedAt: ago(60) }, seen: { service: down(ago(60)) } },
    ['Draining', undefined, hostDown, [], 30_000]
  ],
  ['EV-20: dead for five minutes', lastSeen(5, 60), ['Preflight', undefined, hostDown, [], 30_000]],
  ['EV-20: dead for longer: it may come back', lastSeen(600, 600), ['Preflight', undefined, hostDown, [], 30_000]],
  ['EV-20: waited for since five minutes', lastSeen(60, 5), ['Preflight', undefined, hostDown, [], 30_000]],
  [
    'EV-20: nobody knows since when',
    { status: { startedAt: ago(60) }, seen: { service: { ...down(''), updated: null } } },
    ['Preflight', undefined, hostDown, [], 30_000]
  ],
  [
    'EV-27: a rescue waits until the host counts as down',
    { spec: { mode: 'evacuate' }, status: { startedAt: ago(60) }, seen: { service: service({ updated: ago(60) }) } },
    [
      'Preflight',
      undefined,
      'the host to be as it must be: Nova counts the host as up, and would refuse to rescue its servers',
      [],
      30_000
    ]
  ],
  [
    'EV-20: a rescue ends the drain',
    { seen: { peers: [peer({ mode: 'evacuate' })] } },
    ['Done', 'Failed', 'its turn: The Eviction d rescues the servers of this host', [], 30_000]
  ],
  [
    'HV-13: its turn',
    { status: { startedAt: ago(60) }, seen: { peers: [peer({})], service: service({ updated: ago(60) }) } },
    ['Preflight', undefined, 'its turn: The Eviction d of the same host is at work', [], 30_000]
  ],
  [
    'EV-3: the inventory',
    { seen: { servers: [server({ partial: true })] } },
    ['Preflight', undefined, 'Nova to know every server: Nova cannot say what these are: s', [], 30_000]
  ],
  [
    'EV-3: room elsewhere',
    { spec: { requireCapacity: true }, seen: { capacity: { candidates: new Map(), needMiB: 9, freeMiB: 8 } } },
    ['Preflight', undefined, 'room elsewhere: The servers need 9 MiB; Ready hosts of the zone have 8 MiB left', [], 30_000]
  ]
]
for (const [name, given, wanted] of blocked)
  t.test(`a check stands in the way: ${name}`, async t => t.strictSame(brief(decided(given)), wanted))
