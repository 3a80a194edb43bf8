import t from 'tap'
import { idOf } from '../../../functions/ha/incident.ts'
import { accountOf, type Decision, type Fault } from './ledger.ts'

const fault = (id: string, server: string, atMs: number): Fault => ({ id, host: 'hv1', server, atMs })
const decision = (server: string, atMs: number, count: number): Decision => ({
  server,
  decisionId: idOf('hv1', server, atMs),
  count
})
const faults = [fault('1', 'a', 1000), fault('2', 'a', 2000), fault('3', 'a', 3000), fault('4', 'b', 1000)]

const cases: Array<[name: string, decisions: Decision[], then: ReturnType<typeof accountOf>]> = [
  [
    'each fault has a decision of its own, or is in one of its server',
    [decision('a', 1000, 2), decision('a', 3000, 1), decision('b', 1000, 1)],
    { decided: ['1', '3', '4'], coalesced: ['2'], lost: [], countedTwice: 0 }
  ],
  [
    'a fault that no decision counts is lost, although its server has one',
    [decision('a', 1000, 2), decision('b', 1000, 1)],
    { decided: ['1', '4'], coalesced: ['2'], lost: ['3'], countedTwice: 0 }
  ],
  [
    'what one server counted too often does not make up for another',
    [decision('a', 1000, 5)],
    { decided: ['1'], coalesced: ['2', '3'], lost: ['4'], countedTwice: 2 }
  ],
  ['without a decision all is lost', [], { decided: [], coalesced: [], lost: ['1', '2', '3', '4'], countedTwice: 0 }]
]
for (const [name, decisions, then] of cases) t.test(name, async t => t.strictSame(accountOf(faults, decisions), then))
