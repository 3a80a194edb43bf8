// Bridges as pure functions of rows (spec/ovs.md §5).
import t from 'tap'
import { bridgeHealth, expectedBridges } from '../../../agents/ovs/bridges.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import type { Observed } from '../../../agents/ovs/observed.ts'
import { type GivenBridge, tables } from './tables.ts'

const bridges: Array<[name: string, given: GivenBridge, status: string, reason?: RegExp]> = [
  ['as it should be', { name: 'br-int' }, 'Active'],
  ['not secure', { name: 'br-int', fail_mode: 'standalone' }, 'Degraded', /fail mode is standalone, expected secure/],
  [
    'OV-40 local port without a number',
    { name: 'br-int', ports: [{ name: 'br-int', interfaces: [{ name: 'br-int', type: 'internal', ofport: -1 }] }] },
    'Degraded',
    /local port/
  ],
  [
    'patch port without a peer',
    { name: 'br-int', ports: [{ name: 'patch', interfaces: [{ name: 'patch', type: 'patch', options: { peer: 'gone' } }] }] },
    'Degraded',
    /without a peer: patch/
  ]
]
for (const [name, given, status, reason] of bridges) {
  t.test(`OV-39 bridge: ${name}`, async t => {
    const model = modelOf(tables([given]))
    const [found] = bridgeHealth(model, expectedBridges(model, {}, ['br-int']))
    t.equal(found?.status, status)
    if (reason) t.match(found?.reason, reason)
  })
}

t.test('OV-38 which bridges are expected', async t => {
  const model = modelOf(tables([], { 'ovn-bridge-mappings': 'p1:br-provider,p2:br-x' }))
  const missing = (expected: Observed['expected']) =>
    bridgeHealth(model, expectedBridges(model, expected, ['br-int', 'br-ex', 'br-provider?', 'br-maybe?'])).map(
      ({ name }) => name
    )
  t.strictSame(missing({}), ['br-ex', 'br-int', 'br-provider', 'br-x'], 'a mapped bridge is not optional')
  t.strictSame(missing({ bridges: [{ name: 'br-own' }] }), ['br-own', 'br-provider', 'br-x'])
})
