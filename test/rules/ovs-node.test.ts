// OV-5: an agent writes the OVSNode of its own node, and an OVSNode is called like its node.
import t from 'tap'
import { checkOVSNode } from '../../shared/rules/ovs-node.ts'
import type { OVSNode } from '../../shared/schema/ovs-node.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { agent, asked, type Given, jane, said, silence } from './asked.ts'

const node = (name: string, ref = name): OVSNode => ({ metadata: { name }, spec: { nodeRef: { name: ref } } })
const ovs = (on?: string) => agent(on, 'ovn-system:ovs-agent')
const ask = (object: OVSNode, more: Given<OVSNode> = {}) => said(checkOVSNode(asked(object, more)))

t.test('OV-5: an agent writes the object of its node, by whatever way', async t => {
  const ways = {
    create: {},
    update: { old: node('a') },
    status: { old: node('a'), subresource: 'status' },
    delete: { operation: 'DELETE' as const }
  }
  for (const [way, more] of Object.entries(ways)) {
    t.strictSame(ask(node('a'), { ...more, user: ovs('a') }), silence, way)
    t.strictSame(ask(node('a'), { ...more, user: ovs('b') }).refused, ['OV-5 metadata.name'], way)
    t.strictSame(ask(node('a'), { ...more, user: ovs() }).refused, ['OV-5 metadata.name'], `${way} with a token of no pod`)
    t.strictSame(ask(node('a'), { ...more, user: jane }), silence, `${way} by a person`)
  }
})

t.test('OV-5: nodeRef is the name', async t => {
  t.strictSame(ask(node('a', 'b')).refused, ['OV-5 spec.nodeRef.name'])
  t.strictSame(ask(node('a', 'b'), { user: ovs('b') }).refused, ['OV-5 metadata.name', 'OV-5 spec.nodeRef.name'], 'both at once')
})

t.test('garbage is refused by its path and never throws', async t => {
  matchWhole(t, ask({ metadata: { name: 'a' }, spec: { nodeRef: 5 } } as unknown as OVSNode).refused, ['schema spec.nodeRef'])
  matchWhole(t, ask({ metadata: { name: 'a' } } as unknown as OVSNode).refused, ['schema spec'])
})
