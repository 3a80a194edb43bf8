import t from 'tap'
import { difference, digest } from '../../../agents/cluster/digest.ts'
import type { Change } from '../../../shared/events/kind.ts'

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels: { a: '1' }, annotations: { b: '1' }, resourceVersion: '1', managedFields: [] },
  spec: { taints: [] },
  status: {
    conditions: [{ type: 'Ready', status: 'True', reason: 'Up', message: 'm', lastHeartbeatTime: 't1' }],
    addresses: [],
    images: ['i']
  }
}
const volatile = ['images']

const cases: Array<[name: string, altered: object, told: Change[]]> = [
  ['nothing', node, []],
  [
    'the version and managedFields alone',
    { ...node, metadata: { ...node.metadata, resourceVersion: '2', managedFields: [{ manager: 'x' }] } },
    []
  ],
  ['a label', { ...node, metadata: { ...node.metadata, labels: { a: '2' } } }, ['labels']],
  ['an annotation', { ...node, metadata: { ...node.metadata, annotations: {} } }, ['annotations']],
  ['a taint', { ...node, spec: { taints: [{ key: 'k' }] } }, ['spec']],
  [
    'a heartbeat',
    { ...node, status: { ...node.status, conditions: [{ ...node.status.conditions[0], lastHeartbeatTime: 't2' }] } },
    []
  ],
  [
    'a condition',
    { ...node, status: { ...node.status, conditions: [{ ...node.status.conditions[0], status: 'False' }] } },
    ['conditions']
  ],
  ['a volatile field', { ...node, status: { ...node.status, images: [] } }, []],
  ['an address', { ...node, status: { ...node.status, addresses: ['x'] } }, ['status']],
  ['its deletion', { ...node, metadata: { ...node.metadata, deletionTimestamp: 't' } }, ['deleting']],
  ['content outside of spec', { ...node, data: { a: 'b' } }, ['spec']]
]
for (const [name, altered, told] of cases) {
  t.test(`${name} is told as ${told.join(',') || 'nothing'}`, async t =>
    t.strictSame(difference(digest(node, volatile), digest(altered, volatile)), told)
  )
}

t.test('of a new object everything is told', async t => {
  t.strictSame(difference(undefined, digest(node, volatile)), [
    'created',
    'labels',
    'annotations',
    'spec',
    'conditions',
    'status'
  ])
})
