// What the tile of a host says.
import t from 'tap'
import { arrivalsOf, countedElsewhere } from '../../shared/view/arrivals.ts'
import { hostView, type HostObjects } from '../../shared/view/host.ts'
import type { HostView } from '../../shared/view/types.ts'
import { condition, earlier, eviction, hypervisor, now, ovsNode, ready, moving, progress } from './fixtures.ts'

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
