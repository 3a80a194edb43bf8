import t from 'tap'
import { hostDetail } from '../../shared/view/detail.ts'
import { arrivalsOf, countedElsewhere } from '../../shared/view/arrivals.ts'
import { drainOf, evictionOf } from '../../shared/view/drain.ts'
import { drainHappenings, hostHappenings } from '../../shared/view/happening.ts'
import { hostView, type HostObjects } from '../../shared/view/host.ts'
import { networkOf } from '../../shared/view/network.ts'
import { span } from '../../shared/view/time.ts'
import type { HostView } from '../../shared/view/types.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { condition, earlier, eviction, hypervisor, now, ovsNode, ready } from './fixtures.ts'

const progress = { total: 20, done: 14, running: 2, waiting: 4, failed: 0, blocked: 0 }
const moving = [
  { id: 'a', name: 'web-14', state: 'Migrating' as const, destination: 'node-02', startedAt: earlier },
  { id: 'b', name: 'db-3', state: 'Waiting' as const }
]
const draining = hypervisor({ numInstances: 6, conditions: [ready('Evicting'), condition('Evicting', 'True', 'Running')] })

const words: Array<[name: string, given: HostObjects, then: Partial<HostView>]> = [
  ['nothing known', { hypervisor: hypervisor() }, { tone: 'rest', word: 'Discovered' }],
  [
    'ready',
    { hypervisor: hypervisor({ numInstances: 6, conditions: [ready('Ready')] }) },
    { tone: 'ok', word: 'Ready', line: '6 VMs' }
  ],
  [
    'ready, one link lost',
    { hypervisor: hypervisor({ numInstances: 5, conditions: [ready('Ready')] }), ovsNode: ovsNode(1, 'Degraded') },
    { tone: 'warn', word: 'Degraded', line: '5 VMs · bond0 1 of 2' }
  ],
  [
    'not managed',
    { hypervisor: hypervisor({ conditions: [ready('Onboarding')] }, { lifecycleEnabled: false }) },
    { word: 'Not managed' }
  ],
  [
    'draining, with the progress of its Eviction',
    { hypervisor: draining, eviction: eviction({ phase: 'Draining', progress }) },
    { tone: 'busy', word: 'Draining', line: '6 left of 20 · 2 moving', percent: 70 }
  ],
  [
    'a drain that cannot end is never shown as work',
    { hypervisor: hypervisor({ conditions: [ready('Evicting'), condition('Evicting', 'True', 'Blocked', '1 VM cannot move')] }) },
    { tone: 'bad', word: 'Drain blocked', line: '1 VM cannot move' }
  ],
  [
    'maintenance says why',
    { hypervisor: hypervisor({ conditions: [ready('Evicted')] }, { maintenanceReason: 'firmware' }) },
    { tone: 'rest', word: 'Drained', line: 'empty · firmware' }
  ],
  [
    'a silent agent',
    { hypervisor: hypervisor({ conditions: [ready('AgentLost', 'last heard at noon')] }) },
    { tone: 'bad', word: 'Agent silent' }
  ],
  [
    'a reason of a later version',
    { hypervisor: hypervisor({ conditions: [ready('Sleeping')] }) },
    { tone: 'warn', word: 'Sleeping' }
  ]
]
for (const [name, given, then] of words) t.test(name, async t => t.match(hostView(given, now), then))

t.test('a VM with which something is wrong is named; a person is called when it cannot be brought back', async t => {
  const of = (...states: Array<'Confirming' | 'Recovered' | 'Blocked'>) => {
    const incidents = states.map((state, at) => ({
      server: `id-${at}`,
      name: `web-${at}`,
      kind: 'ioError',
      state,
      reason: 'EIO'
    }))
    return hostView({ hypervisor: hypervisor({ conditions: [ready('Ready')], ha: { incidents } as never }) }, now)
  }
  t.match(of('Recovered'), { word: 'Ready', line: '0 VMs', needsPerson: undefined })
  t.match(of('Recovered', 'Confirming'), { word: 'Ready', line: '0 VMs · web-1 io error', needsPerson: undefined })
  t.match(of('Blocked', 'Confirming'), { line: '0 VMs · web-0 io error and 1 more', needsPerson: 'web-0 io error: EIO' })
})

t.test('a VM that was only reported, and runs again, is no trouble any more', async t => {
  const incidents = [{ server: 'a', name: 'web-1', kind: 'crashed', state: 'Reported', since: earlier }]
  const of = (state: string, since: string) => {
    const instances = [{ id: 'a', name: 'web-1', active: true, state, since }]
    return hostView({ hypervisor: hypervisor({ conditions: [ready('Ready')], instances, ha: { incidents } as never }) }, now).line
  }
  t.equal(of('off', earlier), '0 VMs · web-1 crashed')
  t.equal(of('running', '2026-11-16T11:50:00Z'), '0 VMs · web-1 crashed', 'it ran before')
  t.equal(of('running', '2026-11-16T11:58:00Z'), '0 VMs')
})

t.test('a drain that stands still says what it waits for', async t => {
  const stopped = eviction({ progress: { ...progress, running: 0 }, waitingFor: 'OpenStack: CircuitOpen' })
  t.equal(hostView({ hypervisor: draining, eviction: stopped }, now).line, '6 left of 20 · waits for OpenStack: CircuitOpen')
})

t.test('how full a host is, whatever the units', async t => {
  const conditions = [ready('Ready')]
  t.equal(
    hostView({ hypervisor: hypervisor({ conditions, capacity: { memory: '128Gi' }, allocation: { memory: '65536Mi' } }) }, now)
      .percent,
    50
  )
  t.equal(
    hostView({ hypervisor: hypervisor({ conditions, capacity: { memory: 'much' }, allocation: { memory: '1' } }) }, now).percent,
    0
  )
})

t.test('somebody is called when a drain is stuck or a host is bad, and not otherwise', async t => {
  const stuck = eviction({
    progress: { ...progress, blocked: 1 },
    instances: [
      { id: 'c', name: 'db-3', state: 'Blocked', reason: 'ResizeAwaitsUser', message: 'waits for its owner to confirm a resize' }
    ]
  })
  t.match(
    hostView({ hypervisor: draining, eviction: stuck }, now).needsPerson,
    /1 of 20 VMs cannot move: db-3: waits for its owner/
  )
  t.match(
    hostView({ hypervisor: hypervisor({ conditions: [ready('LibVirtDown', 'refused')] }) }, now).needsPerson,
    /libvirt down since 4 min: refused/
  )
  t.equal(hostView({ hypervisor: draining, eviction: eviction({ progress }) }, now).needsPerson, undefined)
})

t.test('a drain tells moves, waits and its end', async t => {
  const view = drainOf(eviction({ progress, instances: moving, eta: '2026-11-16T12:03:00Z', waitingFor: 'capacity' }), now)
  t.equal(view.word, '14 of 20 · about 3 min')
  t.equal(view.line, '2 moving (web-14 → node-02), 4 waiting, waits for capacity')
  t.match(drainOf(eviction({ verdict: 'Incomplete', progress }), now), { tone: 'bad', word: 'Incomplete' })
  t.match(drainOf(eviction({ verdict: 'Succeeded' }), now), { tone: 'ok', percent: 100 })
})

t.test('the Eviction that runs counts, not the newest that ended', async t => {
  const over = { ...eviction({ verdict: 'Cancelled' }), metadata: { name: 'new', creationTimestamp: '2026-11-16T11:00:00Z' } }
  const runs = { ...eviction(), metadata: { name: 'old', creationTimestamp: '2026-11-16T10:00:00Z' } }
  t.equal(evictionOf('node-05', [over, runs])?.metadata.name, 'old')
  t.equal(evictionOf('node-05', [over])?.metadata.name, 'new')
  t.equal(evictionOf('node-06', [over]), undefined)
  const plan = { ...runs, metadata: { name: 'plan' }, spec: { hypervisor: 'node-05', reason: 'x', dryRun: true } }
  t.equal(evictionOf('node-05', [plan]), undefined, 'one that only plans moves nothing')
})

t.test('a host says what comes to it', async t => {
  const drains = [eviction({ instances: moving }), eviction({ instances: moving, verdict: 'Cancelled' })]
  t.strictSame(arrivalsOf(drains, []), new Map([['node-02', new Map([['a', 'node-05']])]]), 'of drains that run')
  const objects = { hypervisor: hypervisor({ numInstances: 7, conditions: [ready('Ready')] }), arriving: 1 }
  t.match(hostView(objects, now), { word: 'Ready', line: '7 VMs · receiving 1' })
  const degraded = { ...objects, ovsNode: ovsNode(1, 'Degraded') }
  t.match(hostView(degraded, now), { word: 'Degraded', line: '7 VMs · receiving 1 · bond0 1 of 2' })
})

t.test('a VM that moves is on two hosts, and is counted on one', async t => {
  const vm = (id: string) => ({ id, name: id, active: true, state: 'running' })
  const host = (name: string, ...vms: string[]) => {
    const own = hypervisor({ numInstances: vms.length, instances: vms.map(vm), conditions: [ready('Ready')] })
    return { ...own, metadata: { ...own.metadata, name } }
  }
  const move = {
    metadata: { name: 'c', namespace: 'x' },
    status: { origin: 'node-03', destination: 'node-02', phase: 'Running' }
  }
  const arrivals = arrivalsOf([eviction({ instances: moving })], [move as never])
  const count = (fleet: ReturnType<typeof host>[]) =>
    fleet.map(hypervisor => {
      const elsewhere = countedElsewhere(hypervisor, arrivals, name => fleet.find(({ metadata }) => metadata.name === name))
      return hostView({ hypervisor, countedElsewhere: elsewhere, arriving: 0 }, now).vms
    })
  t.strictSame(
    count([host('node-05', 'a', 'b'), host('node-03', 'c'), host('node-02', 'a', 'c', 'd')]),
    [2, 1, 1],
    'where it runs'
  )
  t.strictSame(count([host('node-05', 'b'), host('node-03', 'c'), host('node-02', 'a', 'c', 'd')]), [1, 1, 2], 'where it came to')
  t.strictSame(count([host('node-05', 'a', 'b'), host('node-03', 'c'), host('node-02', 'd')]), [2, 1, 1], 'before it came')
})

t.test('what happened is told from two states', async t => {
  const healthy = hostView({ hypervisor: hypervisor({ conditions: [ready('Ready')] }), ovsNode: ovsNode(2, 'Active') }, now)
  const cut = hostView({ hypervisor: hypervisor({ conditions: [ready('Ready')] }), ovsNode: ovsNode(0, 'Down') }, now)
  matchWhole(
    t,
    hostHappenings(healthy, cut, now).map(({ text }) => text),
    ['Ready → Degraded', 'network: bond0 0 of 2']
  )
  t.strictSame(hostHappenings(undefined, cut, now), [], 'what is there at the start did not happen')
  const done = eviction({ verdict: 'Succeeded', instances: [{ id: 'a', name: 'web-14', state: 'Done', destination: 'node-02' }] })
  t.strictSame(
    drainHappenings(eviction({ instances: moving }), done, now).map(({ text }) => text),
    ['web-14 moved to node-02', 'drain ended: Succeeded']
  )
})

t.test('a lost cable is told with the one that carries the traffic', async t => {
  const of = (activeMembers: number, status: 'Degraded' | 'Down', up: boolean[]) => {
    const node = ovsNode(activeMembers, status)
    const physical = up.map((isUp, at) => ({
      name: `eth${at}`,
      bond: 'bond0',
      status: isUp ? ('Up' as const) : ('Down' as const)
    }))
    const { interfaces } = node.status ?? {}
    return networkOf({ ...node, status: { ...node.status, interfaces: { ...interfaces, physical } } }).why
  }
  t.equal(of(1, 'Degraded', [false, true]), 'bond0: eth0 down. Traffic runs on eth1; the VMs stay.')
  t.equal(of(1, 'Degraded', []), 'bond0: 1 of 2 links down. Traffic runs on the others; the VMs stay.')
  t.equal(of(0, 'Down', [false, false]), 'bond0 carries nothing: eth0, eth1 down. The host is cut off.')
})

t.test('the page of a host', async t => {
  const host = hypervisor({
    numInstances: 6,
    conditions: [
      ready('Evicting', 'Maintenance (manual): servers are being moved away'),
      condition('Evicting', 'True', 'Running')
    ],
    maintenance: { mode: 'manual', since: earlier, requestedBy: 'jo', reason: 'firmware' },
    drift: [{ kind: 'trait', name: 'CUSTOM_A', expected: 'set', actual: 'absent', action: 'repaired' }],
    history: [{ id: 'h', time: earlier, kind: 'phase', from: 'Active', to: 'Draining', actor: 'drover-hypervisor' }]
  })
  const stats = { dataTotal: 200, dataProcessed: 50 }
  const migrations = [{ metadata: { name: 'a', namespace: 'x' }, status: { started: earlier, stats } }]
  const detail = hostDetail(
    {
      hypervisor: host,
      eviction: eviction({ progress, instances: moving, waitingFor: 'a free lane' }),
      ovsNode: ovsNode(1, 'Degraded'),
      migrations: migrations as never,
      happenings: []
    },
    now
  )
  t.match(detail.story.join('\n'), /node-05 is Draining since 4 min/)
  t.match(detail.story.join('\n'), /asked for 4 min ago by jo: firmware/)
  matchWhole(t, detail.waiting, [{ what: 'a free lane' }])
  matchWhole(t, detail.moves, [{ name: 'web-14', percent: 25, word: 'Migrating' }, { name: 'db-3' }])
  matchWhole(t, detail.drift, ['trait CUSTOM_A: expected set, found absent (repaired)'])
  matchWhole(t, detail.network?.bonds, [{ name: 'bond0', tone: 'warn', line: 'Degraded · 1 of 2 links usable' }])
  matchWhole(t, detail.timeline, [{ text: 'phase: Active → Draining, by drover-hypervisor' }])
})

t.test('spans as a person says them', async t => {
  t.strictSame([0, 89_000, 120_000, 5_400_000, 7_500_000, 200_000_000].map(span), [
    '0 s',
    '89 s',
    '2 min',
    '1 h 30 min',
    '2 h 5 min',
    '2 days'
  ])
})
