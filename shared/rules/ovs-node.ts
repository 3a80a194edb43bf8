// Whose an OVSNode is (OV-5). Pure.
import { OVSNode } from '../schema/ovs-node.ts'
import { notItsNode, type Asked } from './asked.ts'
import { breach, judge, type Rule, type Verdict } from './rule.ts'
import { schemaFindings } from './schema-findings.ts'

const ownNode: Rule<Asked<OVSNode>> = {
  id: 'OV-5',
  weight: 'refused',
  what: 'A write by an agent to an OVSNode other than the one named like the node that its token is bound to',
  example: 'the agent of node-a patches the OVSNode node-b',
  fix: 'run the agent as a pod of that node; its token carries the node from Kubernetes 1.30 on',
  check: asked => notItsNode(asked, 'OVSNode')
}

const ownName: Rule<Asked<OVSNode>> = {
  id: 'OV-5',
  weight: 'refused',
  what: 'An OVSNode whose nodeRef.name is not its own name',
  example: 'an OVSNode node-a with nodeRef: { name: node-b }',
  fix: 'name the object like its node',
  check: ({ object }) =>
    object.spec.nodeRef.name === object.metadata.name
      ? []
      : [breach('spec.nodeRef.name', `must be ${object.metadata.name}, the name of the object`)]
}

export const ovsNodeRules: readonly Rule<Asked<OVSNode>>[] = [ownNode, ownName]

export function checkOVSNode(asked: Asked<OVSNode>): Verdict {
  if (asked.operation === 'DELETE') return judge([ownNode], asked)
  const bySchema = schemaFindings(OVSNode, asked.object)
  return bySchema.length > 0 ? { violations: bySchema, warnings: [] } : judge(ovsNodeRules, asked)
}
