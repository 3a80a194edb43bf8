// What drains, happenings, cables, spans and the page of a host say.
import t from 'tap'
import { hostDetail } from '../../shared/view/detail.ts'
import { drainOf, evictionOf } from '../../shared/view/drain.ts'
import { drainHappenings, hostHappenings } from '../../shared/view/happening.ts'
import { hostView } from '../../shared/view/host.ts'
import { networkOf } from '../../shared/view/network.ts'
import { span } from '../../shared/view/time.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { condition, earlier, eviction, hypervisor, now, ovsNode, ready, moving, progress } from './fixtures.ts'

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
