// Flows that were wiped, froze or lag, as pure functions of rows and counts (spec/ovs.md §5).
import t from 'tap'
import { flowFaults, trendOf } from '../../../agents/ovs/flows.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import { observed, tables } from './tables.ts'

t.test('OV-47 flows: wiped after two polls, and not by a slow decline', async t => {
  const model = modelOf(tables([{ name: 'br-int' }], { 'ovn-remote': 'tcp:x' }))
  const faults = (counts: number[]) => {
    const flowTrend = counts.reduce<ReturnType<typeof trendOf> | undefined>((trend, count) => trendOf(trend, count), undefined)
    return flowFaults(model, observed({ ovn: 'connected', flowTrend })).map(({ kind }) => kind)
  }
  t.strictSame(faults([1000, 0]), [])
  t.strictSame(faults([1000, 0, 0]), ['Wiped'])
  t.strictSame(faults([1000, 99, 99, 99, 99]), ['Wiped'])
  t.strictSame(faults([1000, 500, 200, 90, 40]), [])
  t.strictSame(faults([1000, 0, 0, 1000]), [])
  for (const ovn of ['not-connected', 'not-running'] as const)
    t.strictSame(flowFaults(model, observed({ ovn })), [{ kind: 'Frozen', because: ovn }])
  const lagging = modelOf(tables([{ name: 'br-int', ids: { 'ovn-nb-cfg': '4' } }], { 'ovn-remote': 'tcp:x' }))
  t.strictSame(flowFaults(lagging, observed({ ovn: 'connected', southbound: { nbCfg: 7n, bindings: new Map() } })), [
    { kind: 'Lagging', behind: 3n }
  ])
})

t.test('OV-44 without the southbound database: behind by the times that a newer controller notes, if it does', async t => {
  const faults = (ids: Record<string, string>) =>
    flowFaults(modelOf(tables([{ name: 'br-int', ids }], { 'ovn-remote': 'tcp:x' })), observed({ ovn: 'connected' }))
  t.strictSame(faults({ 'ovn-nb-cfg': '4', 'ovn-nb-cfg-ts': '1000' }), [], 'an older one says nothing, so nothing is known')
  t.strictSame(faults({ 'ovn-nb-cfg': '4', 'ovn-nb-cfg-ts': '2000', 'ovn-nb-cfg-sb-ts': '1900' }), [])
  t.strictSame(faults({ 'ovn-nb-cfg': '4', 'ovn-nb-cfg-ts': '2000', 'ovn-nb-cfg-sb-ts': '2100' }), [
    { kind: 'Lagging', behind: undefined }
  ])
})
