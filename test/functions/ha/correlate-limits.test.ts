// HA-15, HA-16: from when on faults of many servers are one fault, each limit on both of its sides, with the words for people.
import t from 'tap'
import { correlate, mayCorrelate, type Verdict } from '../../../functions/ha/correlate.ts'
import type { Fault, Fleet } from '../../../functions/ha/fleet.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { drover, serverId, startMs } from './fixtures.ts'
import { fault, hostWith, many } from './host-fixtures.ts'

// 3 servers and 10 % within 60 s; the fleet from the fourth host on
type Row = [name: string, domains: number, mine: Fault[], fleet: Fleet, verdict: Verdict, hosts: string[], words: string]
const three = many('crashed', 3)
const twice = [...many('crashed', 2), fault('crashed', 1)]
const other = (name: string, faults: Fault[] = three, domains = 10) => hostWith(name, domains, faults)
const quiet = '3 of 10 servers crashed within 60 s, all other hosts are quiet'
const fewer = (count: number, of: number) =>
  `${count} of ${of} servers crashed within 60 s: fewer than 3 or than 10 % of the host`
const aged = (seconds: number) => [...many('crashed', 2), fault('crashed', 2, seconds)]

const servers: Row[] = [
  ['three of ten', 10, three, [], 'host', [], quiet],
  ['three of thirty', 30, three, [], 'host', [], '3 of 30 servers crashed within 60 s, all other hosts are quiet'],
  ['three of 31 are less than a tenth', 31, three, [], 'single', [], fewer(3, 31)],
  ['two', 10, many('crashed', 2), [], 'single', [], fewer(2, 10)],
  ['one server twice is one', 10, twice, [], 'single', [], fewer(2, 10)],
  ['a minute ago', 10, aged(60), [], 'host', [], quiet],
  ['longer ago', 10, aged(61), [], 'single', [], fewer(2, 10)],
  ['a minute ahead, as clocks may differ', 10, aged(-60), [], 'host', [], quiet],
  ['further ahead', 10, aged(-61), [], 'single', [], fewer(2, 10)],
  ['the fleet knows this host, too', 10, three, [other('host-1')], 'host', [], quiet],
  ['another host has too few', 10, three, [other('b', many('crashed', 2))], 'host', [], quiet],
  ['another host has the same server three times', 10, three, [other('b', [...twice, ...twice])], 'host', [], quiet],
  ['another host has less than a tenth', 10, three, [other('b', three, 31)], 'host', [], quiet],
  ['another host has another fault', 10, three, [other('b', many('watchdog', 3))], 'host', [], quiet],
  ['another host had it before', 10, three, [other('b', aged(61))], 'host', [], quiet],
  [
    'one other host',
    10,
    three,
    [other('b', three, 30)],
    'several',
    ['b'],
    '3 of 10 servers crashed within 60 s, and so on 1 other hosts: no longer one host, not yet the fleet'
  ],
  [
    'three hosts in all are not yet the fleet',
    10,
    three,
    [other('z'), other('a')],
    'several',
    ['z', 'a'],
    '3 of 10 servers crashed within 60 s, and so on 2 other hosts: no longer one host, not yet the fleet'
  ],
  [
    'four hosts are',
    10,
    three,
    ['b', 'c', 'd'].map(name => other(name)),
    'fleet',
    ['b', 'c', 'd'],
    '3 of 10 servers crashed within 60 s, and so on 3 other hosts: more than 3'
  ]
]
const disk = (storage?: string, n = 0, ageSeconds = 0) => fault('disk', n, ageSeconds, storage)
const disks = (...storages: Array<string | undefined>) => storages.map((storage, n) => disk(storage, n))
const rbd = disks('rbd:vms', 'rbd:vms', 'rbd:vms')
const local = disks('local', 'local', 'local')
const alone = 'I/O errors on 3 servers within 60 s, no other host has any on the same storage'
const outage = (hosts: number) =>
  `I/O errors on 3 servers within 60 s, and on ${hosts} other hosts of the same storage: moving would not help`
const storage: Row[] = [
  ['two', 10, disks('rbd:vms', 'rbd:vms'), [], 'single', [], 'I/O errors on 2 servers within 60 s: fewer than 3'],
  ['three, however many run', 1000, rbd, [], 'host-storage', [], alone],
  ['the fleet knows this host, too', 10, rbd, [other('host-1', rbd)], 'host-storage', [], alone],
  ['one elsewhere on the same pool', 10, rbd, [other('b', disks('rbd:vms'))], 'storage', ['b'], outage(1)],
  ['on two hosts', 10, rbd, [other('b', rbd), other('c', rbd)], 'storage', ['b', 'c'], outage(2)],
  ['on another pool', 10, rbd, [other('b', disks('rbd:other'))], 'host-storage', [], alone],
  ['on one of several pools', 10, disks('nfs:a', 'nfs:b', 'local'), [other('b', disks('nfs:b'))], 'storage', ['b'], outage(1)],
  ['longer ago', 10, rbd, [other('b', [disk('rbd:vms', 0, 61)])], 'host-storage', [], alone],
  ['a minute ago', 10, rbd, [other('b', [disk('rbd:vms', 0, 60)])], 'storage', ['b'], outage(1)],
  ['a crash is no I/O error', 10, rbd, [other('b', [fault('crashed', 0, 0, 'rbd:vms')])], 'host-storage', [], alone],
  ['not known elsewhere counts as shared', 10, rbd, [other('b', disks(undefined))], 'storage', ['b'], outage(1)],
  ['not known here counts as shared', 10, disks(undefined, 'local', 'local'), [other('b', rbd)], 'storage', ['b'], outage(1)],
  ['disks of the own host break for it alone', 10, local, [other('b', local)], 'host-storage', [], alone],
  ['those of another host, too', 10, disks('', '', ''), [other('b', local)], 'host-storage', [], alone],
  ['local here, not known there', 10, local, [other('b', disks(undefined))], 'host-storage', [], alone],
  [
    'an older error of this host on that pool says nothing',
    10,
    [...disks('nfs:a', 'nfs:a', 'nfs:a'), disk('rbd:vms', 9, 61)],
    [other('b', rbd)],
    'host-storage',
    [],
    alone
  ],
  [
    'a crash of this host is no I/O error either',
    10,
    [...disks('nfs:a', 'nfs:a', 'nfs:a'), fault('crashed', 9, 0, 'rbd:vms')],
    [other('b', rbd)],
    'host-storage',
    [],
    alone
  ]
]
for (const [id, rows] of [
  ['HA-15', servers],
  ['HA-16', storage]
] as const)
  for (const [name, domains, mine, fleet, verdict, hosts, words] of rows) {
    t.test(`${id}: ${name}`, async t => {
      const kind = id === 'HA-15' ? 'crashed' : 'disk'
      const found = correlate(hostWith('host-1', domains, mine), fleet, drover, startMs).find(one => one.kind === kind)
      t.strictSame([found?.verdict, found?.hosts, found?.words], [verdict, [...hosts, 'host-1'].sort(), words])
    })
  }

t.test('HA-15: which kinds of fault count for the host, each for itself, and the servers in order', async t => {
  const kinds = ['watchdog', 'disk', 'crashed', 'apiError', 'controlLost', 'stoppedByHost', 'destroyed', 'memory', 'rebooted']
  const faults = kinds.flatMap(kind => [fault(kind, 2), fault(kind, 1), fault(kind, 2)])
  const found = correlate(hostWith('host-1', 10, faults), [], drover, startMs)
  t.strictSame(
    found.map(({ kind }) => kind),
    ['apiError', 'controlLost', 'crashed', 'disk', 'watchdog']
  )
  for (const { servers } of found) t.strictSame(servers, [serverId(1), serverId(2)])
  t.strictSame(correlate(hostWith('host-1', 10, [fault('crashed', 1, 61)]), [], drover, startMs), [])
})

t.test('HA-15: by the limits of the policy', async t => {
  const policy = parsePolicy('correlation: { vms: 2, percent: 50, windowSeconds: 5, hosts: 1 }')
  const verdict = (domains: number, age = 0, fleet: Fleet = []) =>
    correlate(hostWith('host-1', domains, [fault('crashed', 1), fault('crashed', 2, age)]), fleet, policy, startMs)[0]?.verdict
  t.strictSame([verdict(4), verdict(5), verdict(4, 5), verdict(4, 6)], ['host', 'single', 'host', 'single'])
  t.equal(verdict(4, 0, [other('b', many('crashed', 5))]), 'fleet')
})

t.test('HA-15: other hosts are only asked where this one is out of the ordinary', async t => {
  const may = (faults: Fault[]) => mayCorrelate(hostWith('host-1', 10, faults), drover, startMs)
  t.strictSame([may(three), may(many('crashed', 2)), may([]), may(rbd)], [true, false, false, true])
  t.equal(may([...many('crashed', 3), fault('watchdog', 1)]), true, 'one kind is enough')
})
