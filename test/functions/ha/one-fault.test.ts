// HA-15, HA-16: when faults of many servers are one fault, as a table over the pure function.
import t from 'tap'
import { correlate, mayCorrelate, type Verdict } from '../../../functions/ha/correlate.ts'
import type { FleetHost } from '../../../functions/ha/fleet.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { drover, startMs } from './fixtures.ts'
import { fault, hostWith, many } from './host-fixtures.ts'

const together: Array<[name: string, self: FleetHost, fleet: FleetHost[], verdict: Verdict]> = [
  ['two of ten', hostWith('a', 10, many('crashed', 2)), [], 'single'],
  ['three of ten, others quiet', hostWith('a', 10, many('crashed', 3)), [hostWith('b', 10, many('crashed', 2))], 'host'],
  ['three of a hundred', hostWith('a', 100, many('crashed', 3)), [], 'single'],
  ['ten of a hundred', hostWith('a', 100, many('crashed', 10)), [], 'host'],
  ['an old one does not count', hostWith('a', 10, [...many('crashed', 2), fault('crashed', 9, 61)]), [], 'single'],
  ['on two hosts', hostWith('a', 10, many('crashed', 3)), [hostWith('b', 10, many('crashed', 3))], 'several'],
  [
    'on four hosts',
    hostWith('a', 10, many('crashed', 3)),
    ['b', 'c', 'd'].map(name => hostWith(name, 10, many('crashed', 3))),
    'fleet'
  ],
  [
    'another class elsewhere',
    hostWith('a', 10, many('crashed', 3)),
    ['b', 'c', 'd'].map(name => hostWith(name, 10, many('watchdog', 3))),
    'host'
  ],
  ['the guests stopped themselves', hostWith('a', 10, many('stoppedByGuest', 10)), [], 'single'],
  ['the host shut them down', hostWith('a', 10, many('stoppedByHost', 10)), [], 'single'],
  ['a row that does not count', hostWith('a', 10, many('destroyed', 10)), [], 'single'],
  ['none can be managed', hostWith('a', 10, many('controlLost', 3)), [], 'host'],
  ['HA-16: disks of one host', hostWith('a', 100, many('disk', 3, 'rbd:vms')), [hostWith('b', 10, [])], 'host-storage'],
  [
    'T-25: the same storage elsewhere',
    hostWith('a', 100, many('disk', 3, 'rbd:vms')),
    [hostWith('b', 10, many('disk', 1, 'rbd:vms'))],
    'storage'
  ],
  [
    'other storage elsewhere',
    hostWith('a', 100, many('disk', 3, 'rbd:vms')),
    [hostWith('b', 10, many('disk', 1, 'rbd:other'))],
    'host-storage'
  ],
  ['nobody knows which storage', hostWith('a', 100, many('disk', 3, '')), [hostWith('b', 10, many('disk', 1, ''))], 'storage'],
  ['its own disks', hostWith('a', 100, many('disk', 3, 'local')), [hostWith('b', 10, many('disk', 1, 'local'))], 'host-storage'],
  ['a minute ago counts', hostWith('a', 10, [...many('crashed', 2), fault('crashed', 9, 60)]), [], 'host'],
  ['a clock that is ahead by more', hostWith('a', 10, [...many('crashed', 2), fault('crashed', 9, -61)]), [], 'single'],
  [
    'one server three times',
    hostWith(
      'a',
      10,
      [0, 1, 2].map(age => fault('crashed', 1, age))
    ),
    [],
    'single'
  ],
  ['less than a tenth', hostWith('a', 100, many('crashed', 9)), [], 'single'],
  ['nearly a tenth of many', hostWith('a', 2000, many('crashed', 199)), [], 'single'],
  ['a moment more than a minute ago', hostWith('a', 10, [...many('crashed', 2), fault('crashed', 9, 60.05)]), [], 'single'],
  [
    'two classes, two of each',
    hostWith('a', 10, [...many('crashed', 2), fault('watchdog', 7), fault('watchdog', 8)]),
    [],
    'single'
  ],
  [
    'HA-16: where a server that crashed has its disk',
    hostWith('a', 10, [...many('disk', 3, 'local'), fault('crashed', 9, 0, 'rbd:vms')]),
    [hostWith('b', 10, many('disk', 1, 'rbd:vms'))],
    'host-storage'
  ],
  ['API errors', hostWith('a', 10, many('apiError', 3)), [], 'host'],
  ['watchdogs', hostWith('a', 10, many('watchdog', 3)), [], 'host'],
  [
    'on three hosts: not more than three',
    hostWith('a', 10, many('crashed', 3)),
    ['b', 'c'].map(name => hostWith(name, 10, many('crashed', 3))),
    'several'
  ],
  ['a few of many elsewhere', hostWith('a', 10, many('crashed', 3)), [hostWith('b', 100, many('crashed', 9))], 'host'],
  [
    'one server elsewhere, three times',
    hostWith('a', 10, many('crashed', 3)),
    [
      hostWith(
        'b',
        10,
        [0, 1, 2].map(age => fault('crashed', 1, age))
      )
    ],
    'host'
  ],
  [
    'elsewhere long ago',
    hostWith('a', 10, many('crashed', 3)),
    [
      hostWith(
        'b',
        10,
        [1, 2, 3].map(n => fault('crashed', n, 61))
      )
    ],
    'host'
  ],
  ['HA-16: two disks', hostWith('a', 10, many('disk', 2, 'rbd:vms')), [hostWith('b', 10, many('disk', 3, 'rbd:vms'))], 'single'],
  [
    'HA-16: the same storage long ago',
    hostWith('a', 10, many('disk', 3, 'rbd:vms')),
    [hostWith('b', 10, [fault('disk', 1, 61, 'rbd:vms')])],
    'host-storage'
  ],
  [
    'HA-16: something else on the same storage',
    hostWith('a', 10, many('disk', 3, 'rbd:vms')),
    [hostWith('b', 10, [fault('crashed', 1, 0, 'rbd:vms')])],
    'host-storage'
  ],
  [
    'HA-16: unknown storage counts as shared, there',
    hostWith('a', 10, many('disk', 3, 'rbd:vms')),
    [hostWith('b', 10, [fault('disk', 1)])],
    'storage'
  ],
  ['and here', hostWith('a', 10, many('disk', 3)), [hostWith('b', 10, many('disk', 1, 'rbd:vms'))], 'storage'],
  ['but not own disks there', hostWith('a', 10, many('disk', 3)), [hostWith('b', 10, many('disk', 1, 'local'))], 'host-storage'],
  ['nor here', hostWith('a', 10, many('disk', 3, 'local')), [hostWith('b', 10, [fault('disk', 1)])], 'host-storage'],
  [
    'one disk of three on the same storage',
    hostWith('a', 10, [...many('disk', 2, 'local'), fault('disk', 9, 0, 'rbd:vms')]),
    [hostWith('b', 10, many('disk', 1, 'rbd:vms'))],
    'storage'
  ],
  [
    'what was there long ago is not the same storage',
    hostWith('a', 10, [...many('disk', 3, 'rbd:vms'), fault('disk', 9, 61, 'rbd:old')]),
    [hostWith('b', 10, many('disk', 1, 'rbd:old'))],
    'host-storage'
  ]
]
for (const [name, self, fleet, verdict] of together) {
  t.test(`HA-15, HA-16: ${name}`, async t => {
    const kind = self.faults[0]!.kind
    const found = correlate(self, [self, ...fleet], drover, startMs).find(one => one.kind === kind)
    t.equal(found?.verdict ?? 'single', verdict, found?.words ?? 'not correlated')
  })
}

const described: Array<[self: FleetHost, fleet: FleetHost[], hosts: string[], words: string]> = [
  [
    hostWith('m', 10, many('crashed', 2)),
    [],
    ['m'],
    '2 of 10 servers crashed within 60 s: fewer than 3 or than 10 % of the host'
  ],
  [hostWith('m', 10, many('crashed', 3)), [], ['m'], '3 of 10 servers crashed within 60 s, all other hosts are quiet'],
  [
    hostWith('m', 10, many('crashed', 3)),
    ['z', 'b'].map(name => hostWith(name, 10, many('crashed', 3))),
    ['b', 'm', 'z'],
    '3 of 10 servers crashed within 60 s, and so on 2 other hosts: no longer one host, not yet the fleet'
  ],
  [
    hostWith('m', 10, many('crashed', 3)),
    ['z', 'b', 'c'].map(name => hostWith(name, 10, many('crashed', 3))),
    ['b', 'c', 'm', 'z'],
    '3 of 10 servers crashed within 60 s, and so on 3 other hosts: more than 3'
  ],
  [hostWith('m', 10, many('disk', 2)), [], ['m'], 'I/O errors on 2 servers within 60 s: fewer than 3'],
  [
    hostWith('m', 10, many('disk', 3, 'rbd:vms')),
    [],
    ['m'],
    'I/O errors on 3 servers within 60 s, no other host has any on the same storage'
  ],
  [
    hostWith('m', 10, many('disk', 3, 'rbd:vms')),
    [hostWith('b', 10, many('disk', 1, 'rbd:vms'))],
    ['b', 'm'],
    'I/O errors on 3 servers within 60 s, and on 1 other hosts of the same storage: moving would not help'
  ]
]
t.test('HA-15, HA-16: which servers and hosts, in words', async t => {
  for (const [self, fleet, hosts, words] of described) {
    const reversed = { ...self, faults: self.faults.toReversed() }
    matchWhole(t, correlate(reversed, fleet, drover, startMs), [
      { kind: self.faults[0]!.kind, servers: self.faults.map(({ server }) => server), hosts, words }
    ])
  }
  const both = hostWith('m', 10, [...many('watchdog', 3), ...many('apiError', 3)])
  t.strictSame(
    correlate(both, [], drover, startMs).map(({ kind }) => kind),
    ['apiError', 'watchdog'],
    'in the same order each time'
  )
})

t.test('HA-15: the others are asked for only when this host has more than single faults', async t => {
  const may = (faults: FleetHost['faults']) => mayCorrelate(hostWith('a', 10, faults), drover, startMs)
  t.strictSame([may([]), may(many('crashed', 2)), may(many('crashed', 3))], [false, false, true])
  t.equal(may([...many('crashed', 3), ...many('watchdog', 2)]), true)
})
