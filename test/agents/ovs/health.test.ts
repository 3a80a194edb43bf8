// The health of a whole node, its conditions and its status, as pure functions of rows (spec/ovs.md §5).
import t from 'tap'
import { conditionsOf } from '../../../agents/ovs/conditions.ts'
import { findingsOf, healthOf } from '../../../agents/ovs/findings.ts'
import type { Observed } from '../../../agents/ovs/observed.ts'
import { statusOf } from '../../../agents/ovs/to-status.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { observed, tables, about, bond, current, settings } from './tables.ts'

const ready = (given: Partial<Observed>): string => {
  const seen = observed({ tables: tables([{ name: 'br-int' }]), ...given })
  const [first] = conditionsOf(seen, healthOf(seen, settings), new Map())
  return `${first?.status}/${first?.reason}`
}

t.test('OV-50 Ready is the first thing that fails; what is wrong counts before what is unknown', async t => {
  const ovn = { tables: tables([{ name: 'br-int' }], { 'ovn-remote': 'tcp:x' }) }
  t.equal(ready({}), 'True/AllHealthy', 'OVN is not used')
  t.equal(ready({ ...ovn, ovn: 'connected' }), 'True/AllHealthy')
  t.equal(ready({ ...ovn, ovn: 'unknown' }), 'Unknown/SocketMissing')
  t.equal(ready({ ...ovn, ovn: 'not-running' }), 'False/NotRunning')
  t.equal(ready({ ovsdb: 'lost', tables: undefined }), 'False/ConnectionLost')
  t.equal(ready({ ovsdb: 'schema-unsupported', tables: undefined }), 'False/SchemaUnsupported')
  t.equal(ready({ vswitchd: 'not-responding' }), 'False/NotResponding')
  t.equal(ready({ tables: tables([]) }), 'False/BridgeMissing')
  t.equal(
    ready({
      ...ovn,
      ovn: 'unknown',
      tables: tables([{ name: 'br-int' }, bond([{ name: 'a' }, { name: 'b' }])], { 'ovn-remote': 'x' })
    }),
    'False/BondDown'
  )
})

t.test('OV-28 a database that was restarted has no link states until vswitchd wrote them', async t => {
  t.equal(
    ready({
      tables: tables([
        {
          name: 'br-int',
          ports: [
            { name: 'br-int', interfaces: [{ name: 'br-int', type: 'internal', link_state: undefined, admin_state: undefined }] }
          ]
        }
      ])
    }),
    'Unknown/SourceLost'
  )
})

t.test('OV-70 DPDK: wanted and not there is an issue', async t => {
  const seen = observed({ tables: tables([{ name: 'br-int' }], {}, { 'dpdk-init': 'true' }) })
  matchWhole(t, findingsOf(seen, healthOf(seen, settings)), [{ type: 'DpdkNotInitialised' }])
})

t.test('OV-3, OV-4 the status: nothing invented, counters exact', async t => {
  const big = 2n ** 60n + 1n
  const seen = observed({
    tables: tables([
      bond([
        { name: 'a', ...current },
        { name: 'b', ...current }
      ])
    ]),
    statistics: new Map([
      ['a', new Map([['rx_bytes', big]])],
      ['tap', new Map([['rx_bytes', 5n]])]
    ])
  })
  const status = statusOf(seen, healthOf(seen, { expectedBridges: [] }), new Map(), about)
  t.equal(status.metrics?.bytesReceived, big)
  t.equal(status.flowStats, undefined)
  t.equal(status.bridges?.[0]?.flows, undefined)
  t.equal(status.observedAt, undefined)
  const lost = statusOf(observed({ ovsdb: 'lost' }), undefined, new Map(), about)
  t.equal(lost.bridges, undefined)
  const frozen = { ...seen, vswitchd: 'not-responding' as const }
  const old = statusOf(frozen, healthOf(frozen, { expectedBridges: [] }), new Map(), about)
  t.equal(old.metrics, undefined, 'a frozen vswitchd counts nothing: its last counters are old')
  t.strictSame(
    old.interfaces?.physical?.[0],
    { name: 'a', status: 'Unknown', bond: 'bond0' },
    'nor is its last word on a link kept'
  )
})
