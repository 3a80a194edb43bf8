// What one look at a host makes of it: whose faults count how long, when it is looked at again, and what is said of it (HA-4, HA-5, HA-8).
import t from 'tap'
import { decide, dueServers, incidentsOf, modesOf, selfOf } from '../../../functions/ha/decide.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import type { Incident, Seen } from '../../../functions/ha/seen.ts'
import { condition, hypervisor, type Status } from '../host-life/fixtures.ts'
import { noted } from './facts.ts'
import { iso, serverId, startMs } from './fixtures.ts'
import { agoIso, day, dueNow, libvirtLost, ours, s, seenOf, suspect } from './seen-host.ts'

const modes: Array<[spec: boolean | undefined, policy: string, observed: boolean, vm: string, signals: string]> = [
  [true, 'mode: drover', false, 'drover', 'drover'],
  [undefined, 'mode: drover', false, 'drover', 'drover'],
  [false, 'mode: drover', false, 'off', 'off'],
  [true, 'mode: off', false, 'off', 'off'],
  [true, 'mode: off', true, 'off', 'off'],
  [true, 'mode: external', false, 'external', 'external'],
  [true, 'mode: external', true, 'external', 'external'],
  [true, 'mode: observe', false, 'observe', 'drover'],
  [true, 'mode: observe\nsignals: external', true, 'observe', 'external'],
  [true, 'mode: drover\nsignals: off', false, 'drover', 'off'],
  [true, 'mode: drover', true, 'observe', 'observe'],
  [true, 'mode: drover\nsignals: observe', true, 'observe', 'observe']
]
for (const [highAvailability, policy, observed, vm, signals] of modes)
  t.test(`HA-4, HA-5: ${policy}, host says ${highAvailability}, observed ${observed}`, async t => {
    const host = hypervisor()
    const spec = { ...host.spec, ...(highAvailability !== undefined && { highAvailability }) }
    if (highAvailability === undefined) delete (spec as Partial<typeof spec>).highAvailability
    t.strictSame(modesOf({ ...host, spec }, parsePolicy(policy), observed), { vm, signals })
  })

const over = (more: Partial<Incident>): Incident => ({ ...noted, state: 'Closed', since: agoIso(0), ...more })
const running = (since: string, id = serverId(), state = 'running') => [{ id, name: 'i', active: true, state, since }]
const plan = { restarts: 3, windowSeconds: 1800, waitsSeconds: [0], provenSeconds: 60, restartSeconds: 120, move: false }
const restart = (atMs: number) => ({ plan, attempts: [{ action: 'restart' as const, at: agoIso(atMs) }] })
const kept: Array<[name: string, incident: Partial<Incident>, status: Partial<Status>, kept: boolean]> = [
  ['under way', { state: 'Checking', since: agoIso(2 * day) }, {}, true],
  ['closed eleven minutes ago, almost', { since: agoIso(660 * s - 1) }, {}, true],
  ['closed eleven minutes ago', { since: agoIso(660 * s) }, {}, false],
  ['restarted half an hour ago, almost', { since: agoIso(660 * s), ...restart(1800 * s - 1) }, {}, true],
  ['restarted half an hour ago', { since: agoIso(660 * s), ...restart(1800 * s) }, {}, false],
  ['given up a day ago, almost', { state: 'Blocked', since: agoIso(day - 1) }, {}, true],
  ['given up a day ago', { state: 'Blocked', since: agoIso(day) }, {}, false],
  [
    'given up, and it runs since',
    { state: 'Blocked', since: agoIso(day / 2) },
    { instances: running(agoIso(day / 2 - 1)) },
    false
  ],
  ['given up, and it ran before', { state: 'Blocked', since: agoIso(day / 2) }, { instances: running(agoIso(day / 2)) }, true],
  [
    'given up, and another one runs',
    { state: 'Blocked', since: agoIso(day / 2) },
    { instances: running(agoIso(0), serverId(2)) },
    true
  ],
  [
    'given up, and it is paused since',
    { state: 'Blocked', since: agoIso(day / 2) },
    { instances: running(agoIso(0), serverId(), 'paused') },
    true
  ]
]
for (const [name, incident, status, expected] of kept)
  t.test(`HA-13: what is kept of an incident: ${name}`, async t => {
    const seen = seenOf({ incidents: [over(incident)] }, status)
    t.equal(incidentsOf(seen, startMs).length, expected ? 1 : 0)
  })

t.test('T-5: what no event told of is found in the list of a host that is in service only', async t => {
  const instances = [{ id: serverId(), name: 'i', active: false, state: 'crashed', since: agoIso(60 * s) }]
  const found = (status: Partial<Status>) => incidentsOf(seenOf({}, { instances, ...status }), startMs).map(({ kind }) => kind)
  t.strictSame(found({}), ['crashed'])
  t.strictSame(found({ conditions: [condition('Onboarding', 'True', 'Testing')] }), [])
  t.strictSame(found({ conditions: [] }), ['crashed'])
  t.strictSame(found({ nova: {} }), [], 'Nova does not know the host')
})

t.test('of whom Nova is asked', async t => {
  const due = (incident: Partial<Incident>, status: Partial<Status> = {}) =>
    dueServers(seenOf({ incidents: [{ ...noted, since: agoIso(0), ...incident }] }, status), startMs).length
  t.strictSame([due({ nextCheckAt: iso(startMs) }), due({ nextCheckAt: iso(startMs + 1) }), due({})], [1, 0, 0])
  t.equal(due({ nextCheckAt: iso(startMs), kind: 'postcopy' }), 0, 'nothing is done about these')
  t.equal(due({ nextCheckAt: iso(startMs) }, { nova: {} }), 0)
  t.strictSame([due({ state: 'Blocked' }, { instances: [] }), due({ state: 'Blocked' })], [1, 0], 'it may have left')
})

t.test('HA-15: of how many servers they are', async t => {
  const domains = (status: Partial<Status>) => {
    const seen = seenOf({})
    return selfOf({ ...seen, hypervisor: hypervisor({}, status) }, []).domains
  }
  t.strictSame([domains({ instances: running(''), numInstances: 9 }), domains({ numInstances: 9 }), domains({})], [1, 9, 0])
  const seen = seenOf({})
  t.strictSame(selfOf(seen, [{ ...noted, storage: 'nfs:a' }]), {
    name: 'host-1',
    domains: 1,
    faults: [{ server: noted.server, kind: 'crashed', atMs: startMs, storage: 'nfs:a' }],
    signals: []
  })
})

const next: Array<[name: string, seen: Seen, nextMs: number | undefined]> = [
  ['all well', seenOf({}), undefined],
  ['a server to be looked at', seenOf({ incidents: [{ ...dueNow, nextCheckAt: iso(startMs + 7 * s) }] }), 7 * s],
  [
    'the earliest of two',
    seenOf({
      incidents: [
        { ...dueNow, nextCheckAt: iso(startMs + 7 * s) },
        { ...dueNow, server: serverId(2), nextCheckAt: iso(startMs + 6 * s) }
      ]
    }),
    6 * s
  ],
  [
    'overdue, and not asked about',
    seenOf({ incidents: [{ ...dueNow, nextCheckAt: agoIso(s) }] }, {}, { evidence: new Map() }),
    0
  ],
  ['Nova does not answer', seenOf({ incidents: [dueNow] }, {}, { evidence: new Map(), outage: 'no answer' }), 15 * s],
  ['libvirt is lost, disabled in 50 s', seenOf({}, libvirtLost), 50 * s],
  ['a suspicion ends by time', seenOf({ signals: [suspect('SeveralHosts', 100 * s)] }), 500 * s],
  ['a fault of the fleet, too', seenOf({ signals: [suspect('FleetFault', 599 * s)] }), s],
  ['to be enabled, Nova not asked', seenOf({ state: 'Healing', since: agoIso(s) }, {}, { nova: false, service: undefined }), 0],
  ['disabled, Nova not asked', seenOf({ state: 'Unschedulable', since: agoIso(s) }, {}, { nova: false, service: undefined }), 0],
  ['well, Nova not asked', seenOf({ state: 'Healthy', since: agoIso(s) }, {}, { nova: false, service: undefined }), undefined],
  [
    'to be enabled, Nova does not answer',
    seenOf({ state: 'Healing', since: agoIso(s) }, {}, { service: undefined, outage: 'no answer' }),
    15 * s
  ],
  ['well, Nova does not answer', seenOf({}, {}, { service: undefined, outage: 'no answer' }), undefined],
  ['well for 4 of 10 s', seenOf({ state: 'Healing', since: agoIso(4 * s) }, {}, { service: ours }), 6 * s],
  [
    'enabled: whether it was done is looked at',
    seenOf({ state: 'Healing', since: agoIso(10 * s) }, {}, { service: ours }),
    5 * s
  ],
  [
    'one that may have left, Nova not asked',
    seenOf({ incidents: [over({ state: 'Blocked' })] }, { instances: [] }, { nova: false }),
    0
  ],
  ['one that is here, Nova not asked', seenOf({ incidents: [over({ state: 'Blocked' })] }, {}, { nova: false }), undefined]
]
for (const [name, seen, nextMs] of next)
  t.test(`when the host is looked at again: ${name}`, async t => {
    const { nextCheckMs, ha } = decide(seen, startMs)
    t.equal(nextCheckMs, nextMs)
    if (nextMs === undefined) t.equal(ha.nextCheckAt, undefined)
    else if (nextMs > 0) t.equal(ha.nextCheckAt, iso(startMs + nextMs))
  })
