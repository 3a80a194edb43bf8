import type { Told } from './conditions.ts'
import { age, crd, type Resource, statusOf } from './crd.ts'
import { datapathType, failMode, ovsNodeStatus } from './ovs-node-status.ts'
import { dnsSubdomain, flag, int32, listMap, object, rule, text } from './vocabulary.ts'

const spec = object(
  'Which node, and what is expected there',
  {
    nodeRef: object(
      'The node',
      { name: text('Name of the Node', { ...dnsSubdomain, rules: [rule('self == oldSelf', 'Value is immutable')] }) },
      { required: ['name'] }
    ),
    expected: object('What people expect on the node', {
      bridges: listMap(
        'Bridges that must be there',
        object(
          'One bridge',
          { name: text('Name', { minLength: 1 }), datapathType, failMode, optional: flag('Whether it may be missing') },
          { required: ['name'] }
        ),
        ['name']
      ),
      bonds: listMap(
        'Bonds that must be there',
        object(
          'One bond',
          { name: text('Name', { minLength: 1 }), members: int32('Number of members', { minimum: 1 }) },
          { required: ['name'] }
        ),
        ['name']
      )
    })
  },
  { required: ['nodeRef'] }
)

export const OVSNode = crd({
  group: 'ovs.c5c3.io',
  version: 'v1alpha1',
  kind: 'OVSNode',
  plural: 'ovsnodes',
  shortNames: ['ovsn'],
  scope: 'Namespaced',
  description: 'Open vSwitch and the OVN controller of one node',
  columns: [
    statusOf('Ready', 'Ready'),
    { name: 'OVS', jsonPath: '.status.ovsVersion' },
    { name: 'DPDK', jsonPath: '.status.dpdkEnabled', type: 'boolean' },
    statusOf('Bridges', 'AllBridgesHealthy'),
    statusOf('Bonds', 'AllBondsHealthy'),
    statusOf('OVN', 'OVNControllerConnected'),
    { name: 'Flows', jsonPath: '.status.flowStats.totalFlows', type: 'integer' },
    { name: 'Issues', jsonPath: '.status.issueCount', type: 'integer' },
    { name: 'Observed', jsonPath: '.status.observedAt', type: 'date' },
    age
  ],
  rules: [rule('self.spec.nodeRef.name == self.metadata.name', 'an OVSNode has the name of its node', '.spec.nodeRef.name')],
  spec,
  status: ovsNodeStatus
})
export type OVSNode = Resource<typeof OVSNode>

type Judged = Record<'True' | 'False' | 'Unknown', string>

/** The types are closed; the reasons come from the health rules of the agent. */
export type OVSNodeConditions = Record<
  | 'Ready'
  | 'OVSDBConnected'
  | 'OVNControllerConnected'
  | 'AllBridgesHealthy'
  | 'AllBondsHealthy'
  | 'VswitchdResponsive'
  | 'FlowsCurrent'
  | 'PortsAccounted',
  Judged
>
export type OVSNodeCondition = Told<OVSNodeConditions>
