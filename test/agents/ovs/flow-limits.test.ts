// spec/ovs.md §5.4: when flows cannot be trusted, each limit on both of its sides.
import t from 'tap'
import { fallen, flowFaults, nbCfgOf, trendOf } from '../../../agents/ovs/flows.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import type { Observed } from '../../../agents/ovs/observed.ts'
import { observed, tables } from './tables.ts'

const gone = { stable: 1000, previous: 0, last: 0 }
const remote = { 'ovn-remote': 'tcp:x' }

t.test('ovs.md §5.4: fallen is none, or fewer than a tenth of the last stable count', async t => {
  t.strictSame([fallen(0, 0), fallen(99, 1000), fallen(100, 1000), fallen(1, 10)], [true, true, false, false])
  t.strictSame(trendOf(undefined, 5), { stable: 5, last: 5 })
  t.strictSame(trendOf({ stable: 1000, last: 900 }, 99), { stable: 1000, previous: 900, last: 99 })
  t.strictSame(trendOf({ stable: 1000, last: 99 }, 100), { stable: 100, previous: 99, last: 100 })
})

t.test('ovs.md §5.4: wiped, frozen and lagging', async t => {
  const model = modelOf(tables([{ name: 'br-int' }], remote))
  const wiped = (flowTrend: Observed['flowTrend'], ovn: Observed['ovn'] = 'connected') =>
    flowFaults(model, observed({ ovn, flowTrend }))
  t.strictSame(wiped({ stable: 1000, previous: 50, last: 40 }), [{ kind: 'Wiped', flows: 40, before: 1000 }])
  t.strictSame(wiped({ stable: 1000, last: 40 }), [], 'one poll proves nothing')
  t.strictSame(wiped({ stable: 1000, previous: 500, last: 40 }), [])
  t.strictSame(wiped({ stable: 1000, previous: 40, last: 500 }), [])
  t.strictSame(wiped(gone, 'unknown'), [], 'only while the controller says connected')
  t.strictSame(wiped(undefined), [])
  t.strictSame(wiped({ stable: 9, previous: 0, last: 0 }, 'not-running'), [{ kind: 'Frozen', because: 'not-running' }])
  const unused = modelOf(tables([{ name: 'br-int' }]))
  t.strictSame(flowFaults(unused, observed({ ovn: 'not-connected' })), [], 'OVN is not used')
  for (const ovn of ['connected', 'unknown', 'unasked'] as const) t.strictSame(flowFaults(model, observed({ ovn })), [])
})

const ids = (given: Record<string, string>, bridge = 'br-int', more = {}) =>
  modelOf(tables([{ name: 'br-aa' }, { name: bridge, ids: given }], { ...remote, ...more }))
t.test('ovs.md §5.4: how far the controller is', async t => {
  t.strictSame(nbCfgOf(ids({ 'ovn-nb-cfg': '12', 'ovn-nb-cfg-ts': '2000', 'ovn-nb-cfg-sb-ts': '1900' })), {
    nbCfg: 12n,
    atMs: 2000,
    wantedAtMs: 1900
  })
  t.strictSame(nbCfgOf(ids({ 'ovn-nb-cfg': '3', 'ovn-nb-cfg-ts': '1', 'ovn-nb-cfg-sb-ts': 'Infinity' })), {
    nbCfg: 3n,
    atMs: 1,
    wantedAtMs: undefined
  })
  t.strictSame(nbCfgOf(ids({ 'ovn-nb-cfg': '3' })), { nbCfg: 3n, atMs: undefined, wantedAtMs: undefined })
  t.strictSame(nbCfgOf(ids({ 'ovn-nb-cfg': '3', 'ovn-nb-cfg-ts': '0', 'ovn-nb-cfg-sb-ts': 'x' })), {
    nbCfg: 3n,
    atMs: undefined,
    wantedAtMs: undefined
  })
  t.equal(nbCfgOf(ids({ 'ovn-nb-cfg': '3' }, 'br-other', { 'ovn-bridge': 'br-other' }))?.nbCfg, 3n)
  t.equal(nbCfgOf(ids({ 'ovn-nb-cfg': '3' }, 'br-other')), undefined, 'only of the integration bridge')
  for (const text of ['', '-1', '3x', 'x3']) t.equal(nbCfgOf(ids({ 'ovn-nb-cfg': text })), undefined, text)
  t.equal(nbCfgOf(ids({})), undefined)
})
t.test('ovs.md §5.4, OV-44: lagging by numbers, without them by times', async t => {
  const lag = (given: Record<string, string>, nbCfg?: bigint, ovn: Observed['ovn'] = 'connected') =>
    flowFaults(ids(given), observed({ ovn, ...(nbCfg !== undefined && { southbound: { nbCfg, bindings: new Map() } }) }))
  const times = { 'ovn-nb-cfg': '4', 'ovn-nb-cfg-ts': '2000' }
  t.strictSame(lag({ 'ovn-nb-cfg': '4' }, 5n), [{ kind: 'Lagging', behind: 1n }])
  t.strictSame(lag({ 'ovn-nb-cfg': '4' }, 4n), [])
  t.strictSame(lag({ 'ovn-nb-cfg': '4' }, 3n), [], 'its own number may be the newer one')
  t.strictSame(lag({}, 4n), [])
  t.strictSame(lag({ 'ovn-nb-cfg': '4' }, 9n, 'unknown'), [])
  t.strictSame(lag({ ...times, 'ovn-nb-cfg-sb-ts': '2001' }, 4n), [], 'numbers count more than times')
  t.strictSame(lag({ ...times, 'ovn-nb-cfg-sb-ts': '2001' }), [{ kind: 'Lagging', behind: undefined }])
  t.strictSame(lag({ ...times, 'ovn-nb-cfg-sb-ts': '2000' }), [])
  t.strictSame(lag({ 'ovn-nb-cfg': '4', 'ovn-nb-cfg-sb-ts': '2001' }), [])
  t.strictSame(lag(times), [])
  const both = observed({ ovn: 'connected', southbound: { nbCfg: 5n, bindings: new Map() }, flowTrend: gone })
  t.strictSame(
    flowFaults(ids({ 'ovn-nb-cfg': '4' }), both).map(({ kind }) => kind),
    ['Lagging', 'Wiped']
  )
})
