// EV-3: what must hold before the first move, check by check, each with its words.
import t from 'tap'
import { leftovers, limitsCheck, planCheck, preflight } from '../../../functions/evict/checks.ts'
import type { Judged } from '../../../functions/evict/judge.ts'
import type { Check, Entry, Seen } from '../../../functions/evict/seen.ts'
import { eviction, hypervisor, peer, seen, service } from './seen.ts'
import { ago, agoMs, now, server } from './server.ts'
import { options } from './options.ts'

const check = (name: string, result: Check['result'], message: string): Check => ({ check: name, result, message })
const checksOf = (given: Seen) => preflight(given, now, options)
const flavor = (ramMiB: number) => ({ ramMiB }) as unknown as NonNullable<ReturnType<typeof server>['flavor']>
const names = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => `${prefix}${at}`)

t.test('a host that may be drained passes them all, in this order', async t => {
  t.strictSame(checksOf(seen()), {
    checks: [
      check('ids', 'Pass', 'Nova knows it as hv1.'),
      check('turn', 'Pass', 'No other Eviction of this host is open.'),
      check('disabled', 'Pass', 'Disabled: new fans.'),
      check('alive', 'Pass', 'Nova hears from the compute service.'),
      check('inventory', 'Pass', 'On the host: 0 servers.'),
      check('targets', 'Pass', 'Enabled, up and in the zone: hv2.')
    ],
    rescued: false
  })
})

const evacuate = eviction({ mode: 'evacuate' })
const beat = (lastHeartbeat: string) => hypervisor({ agent: { lastHeartbeat } as unknown as object })
const capacity = (needMiB: number, freeMiB: number | undefined, ...found: Array<[id: string, hosts: string[]]>) => ({
  candidates: new Map(found),
  needMiB,
  freeMiB
})
const old = [check('ids', 'Fail', 'x'), check('capacity', 'Warn', 'little room')]
const two = [server({ id: 'a', flavor: flavor(512) }), server({ id: 'b' })]

const alone = check('turn', 'Pass', 'No other Eviction of this host is open.')
const second = check('turn', 'Fail', 'The Eviction d of the same host is at work.')
const unregistered = check('ids', 'Fail', 'Nova has no compute service of this host.')

const cases: Array<[name: string, given: Seen, wanted: Check]> = [
  ['ids: unknown', seen({ hypervisor: undefined }), check('ids', 'Fail', 'There is no Hypervisor hv1.')],
  ['ids: no service', seen({ service: undefined }), unregistered],
  ['ids: no host', seen({ host: undefined }), unregistered],
  [
    'ids: several might be it',
    seen({ service: undefined, alike: names(6, 'h') }),
    check('ids', 'Fail', 'AmbiguousHost: it may be h0 or h1 or h2 or h3 or h4 in Nova, and nothing says which.')
  ],
  ['ids: alike does not matter when it is found', seen({ alike: ['h'] }), check('ids', 'Pass', 'Nova knows it as hv1.')],
  ['HV-13: an older one', seen({ peers: [peer()] }), second],
  ['HV-13: a younger one waits itself', seen({ peers: [peer({ created: ago(9) })] }), alone],
  ['HV-13: of the same age, the first by name', seen({ peers: [peer({ created: ago(10) })] }), second],
  ['HV-13: of the same age, a later one by name', seen({ peers: [peer({ created: ago(10), name: 'f' })] }), alone],
  ['HV-13: of another host', seen({ peers: [peer({ hypervisor: 'hv2' })] }), alone],
  ['HV-13: of another host, a rescue', seen({ peers: [peer({ hypervisor: 'hv2', mode: 'evacuate' })] }), alone],
  [
    'EV-20: a rescue goes first, also a younger one',
    seen({ peers: [peer(), peer({ name: 'r', mode: 'evacuate', created: ago(1) })] }),
    check('turn', 'Fail', 'The Eviction r rescues the servers of this host.')
  ],
  ['HV-13: a rescue does not wait for a drain', seen({ eviction: evacuate, peers: [peer()] }), alone],
  ['HV-13: a rescue waits for an older rescue', seen({ eviction: evacuate, peers: [peer({ mode: 'evacuate' })] }), second],
  [
    'disabled without a reason',
    seen({ service: service({ disabledReason: null }) }),
    check('disabled', 'Pass', 'Disabled: no reason given.')
  ],
  [
    'enabled',
    seen({ service: service({ status: 'enabled' }) }),
    check('disabled', 'Fail', 'The compute service takes new servers.')
  ],
  ['disabled: no service', seen({ service: undefined }), check('disabled', 'Fail', 'The compute service takes new servers.')],
  [
    'disabled or not: nobody knows',
    seen({ service: service({ status: 'unknown' }) }),
    check('disabled', 'Fail', 'Nova cannot say whether the compute service takes new servers: its cell does not answer.')
  ],
  [
    'EV-20: down',
    seen({ service: service({ state: 'down' }) }),
    check('alive', 'Fail', 'HostDown: Nova does not hear from the compute service (down). See high availability.')
  ],
  [
    'alive: no service',
    seen({ service: undefined }),
    check('alive', 'Fail', 'HostDown: Nova does not hear from the compute service (unknown). See high availability.')
  ],
  [
    'alive: the agent was heard just in time',
    seen({ hypervisor: beat(agoMs(90_000)) }),
    check('alive', 'Pass', 'Nova hears from the compute service.')
  ],
  [
    'alive: the agent is silent',
    seen({ hypervisor: beat(agoMs(90_001)) }),
    check('alive', 'Warn', `The agent was last heard at ${agoMs(90_001)}.`)
  ],
  [
    'EV-27: a rescue of a host that is up',
    seen({ eviction: evacuate }),
    check('alive', 'Fail', 'Nova counts the host as up, and would refuse to rescue its servers.')
  ],
  [
    'EV-27: a rescue of a host that is down',
    seen({ eviction: evacuate, service: service({ state: 'down' }) }),
    check('alive', 'Pass', 'Nova counts the host as down.')
  ],
  [
    'EV-27: a rescue of a host of which nobody knows',
    seen({ eviction: evacuate, service: service({ state: 'unknown' }) }),
    check('alive', 'Fail', 'Nova cannot say whether the host is down: its cell does not answer.')
  ],
  ['inventory: one', seen({ servers: [server()] }), check('inventory', 'Pass', 'On the host: 1 server.')],
  [
    'inventory: a row in part blocks',
    seen({ servers: [server(), ...names(11, 'p').map(id => server({ id, partial: true }))] }),
    check('inventory', 'Fail', `Nova cannot say what these are: ${names(10, 'p').join(', ')}.`)
  ],
  ['targets: none', seen({ targets: [] }), check('targets', 'Warn', 'No other host of the zone is enabled and up.')],
  [
    'targets: ten',
    seen({ targets: names(10, 't') }),
    check('targets', 'Pass', `Enabled, up and in the zone: ${names(10, 't').join(', ')}.`)
  ],
  [
    'targets: more',
    seen({ targets: names(11, 't') }),
    check('targets', 'Pass', `Enabled, up and in the zone: ${names(10, 't').join(', ')} ….`)
  ],
  [
    'capacity: for the largest, the rest is not known',
    seen({ servers: two, capacity: capacity(9, undefined, ['a', ['hv2']]) }),
    check('capacity', 'Pass', 'There is room for the largest of them.')
  ],
  [
    'capacity: just enough',
    seen({ servers: two, capacity: capacity(9, 9) }),
    check('capacity', 'Pass', 'There is room for the largest of them and for all together.')
  ],
  [
    'capacity: too little, which is only told',
    seen({ servers: two, capacity: capacity(9, 8.9) }),
    check('capacity', 'Warn', 'The servers need 9 MiB; Ready hosts of the zone have 8 MiB left.')
  ],
  [
    'capacity: too little, which blocks if wanted',
    seen({ eviction: eviction({ requireCapacity: true }), servers: two, capacity: capacity(9, 8) }),
    check('capacity', 'Fail', 'The servers need 9 MiB; Ready hosts of the zone have 8 MiB left.')
  ],
  [
    'capacity: nobody takes them',
    seen({ servers: two, capacity: capacity(9, 99, ['a', []], ['b', []]) }),
    check('capacity', 'Warn', 'Placement knows no host with room for a (512 MiB), b (0 MiB).')
  ],
  [
    'capacity: of many, five are named',
    seen({
      servers: names(6, 's').map(id => server({ id })),
      capacity: capacity(9, 99, ...names(6, 's').map((id): [string, string[]] => [id, []]))
    }),
    check(
      'capacity',
      'Warn',
      `Placement knows no host with room for ${names(5, 's')
        .map(id => `${id} (0 MiB)`)
        .join(', ')}.`
    )
  ],
  [
    'capacity: as it was told before',
    seen({ eviction: eviction({}, { preflight: old }) }),
    check('capacity', 'Warn', 'little room')
  ]
]
for (const [name, given, wanted] of cases) {
  t.test(name, async t => {
    const { checks, blocking } = checksOf(given)
    t.strictSame(
      checks.filter(({ check }) => check === wanted.check),
      [wanted]
    )
    t.strictSame(
      blocking,
      checks.find(({ result }) => result === 'Fail')
    )
    t.equal(
      blocking !== undefined,
      checks.some(({ result }) => result === 'Fail')
    )
  })
}

t.test('EV-20: only a drain is ended by a rescue', async t => {
  const peers = [peer({ mode: 'evacuate' })]
  t.equal(checksOf(seen({ peers })).rescued, true)
  t.equal(checksOf(seen({ peers: [peer()] })).rescued, false)
  t.equal(checksOf(seen({ peers, eviction: evacuate })).rescued, false)
})

t.test('EV-3: the plan in numbers', async t => {
  const judged = (state: Entry['state'], candidate?: Judged['candidate']): Judged => ({
    entry: { id: 's', state },
    server: undefined,
    here: true,
    ...(candidate && { candidate })
  })
  const movable = [judged('Waiting', 'live'), judged('Waiting', 'live'), judged('Waiting', 'cold'), judged('Done')]
  t.strictSame(planCheck(movable), check('plan', 'Pass', 'Live 2, cold 1, blocked 0, of 4 servers.'))
  const stuck = [judged('Blocked'), judged('Failed'), judged('Waiting', 'cold')]
  t.strictSame(planCheck(stuck), check('plan', 'Warn', 'Live 0, cold 1, blocked 2, of 3 servers.'))
})

t.test('EV-23: what libvirt has only on file is a warning', async t => {
  const instances = (...ids: string[]) => ids.map(id => ({ id, name: id, active: false }))
  t.strictSame(leftovers(seen({ hypervisor: undefined })), [])
  t.strictSame(leftovers(seen({ hypervisor: hypervisor({ instances: [{ id: 'x', name: 'x', active: true }] }) })), [])
  t.strictSame(leftovers(seen({ hypervisor: hypervisor({ instances: instances('s') }), servers: [server()] })), [])
  const five = names(5, 'd').join(', ')
  const left = (count: number) => leftovers(seen({ hypervisor: hypervisor({ instances: instances(...names(count, 'd')) }) }))
  const told = (count: number, rest: string) => [
    check('leftovers', 'Warn', `libvirt still has the definition of ${count}, which do not run: ${five}${rest}.`)
  ]
  t.strictSame(left(5), told(5, ''))
  t.strictSame(left(6), told(6, ' …'))
})

t.test('EV-15: how many may start', async t => {
  t.strictSame(limitsCheck({ free: 1, limit: 'zone' }), check('limits', 'Pass', '1 move at a time (zone).'))
  t.strictSame(limitsCheck({ free: 0, limit: 'zone' }), check('limits', 'Warn', 'Nothing may start now (zone).'))
})
