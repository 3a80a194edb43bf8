// What is asked of whom before a review is judged, what is never judged, and what metadata nobody can read. Pure.
import t from 'tap'
import { judge, type Bench } from '../../../functions/admission/judge.ts'
import type { Review } from '../../../functions/admission/review.ts'
import { defaultPolicy } from '../../../shared/rules/asked.ts'
import { inWords } from '../../../shared/rules/rule.ts'
import { withDefaults } from '../../../shared/schema/defaults.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'

const jane = { username: 'jane' }
const reviewOf = (resource: string, object: unknown, more: Partial<Review> = {}): Review => ({
  uid: 'u',
  resource,
  subresource: undefined,
  operation: 'CREATE',
  namespace: 'team',
  name: 'm',
  user: jane,
  object,
  old: undefined,
  dryRun: false,
  ...more
})

/** What it says, and what it asked for meanwhile. */
async function asked(review: Review): Promise<{ said: string[]; questions: string[] }> {
  const questions: string[] = []
  const note = <T>(question: string, answer: T): T => {
    questions.push(question)
    return answer
  }
  const bench: Bench = {
    knowledge: {
      network: (name, namespace) => note(`network ${namespace}/${name}`, { known: true, value: undefined }),
      storageClass: name => note(`class ${name}`, { known: true, value: true }),
      hosts: () => ({ known: true, value: [] }),
      letGo: ({ name }) => note(`let ${name} go`, undefined),
      evictions: () => ({ known: true, value: [] }),
      secret: async (name, namespace) => note(`secret ${namespace}/${name}`, { known: true, value: undefined }),
      mayClone: async ({ username }, namespace) => note(`${username} clones from ${namespace}`, namespace === 'allowed')
    },
    policy: defaultPolicy,
    options: { architecture: 'amd64', allowI440fx: false }
  }
  const { violations, warnings } = await judge(review, bench)
  return { said: [...violations, ...warnings].map(inWords), questions }
}

const machines = 'vitistack.io/machines'
const machine = (spec: object, metadata: object = { name: 'm' }) => ({ metadata, spec })
const broken = machine({ template: 'huge' })
const refused = ['spec.template: there is no template huge: choose small, medium, large (A1)']
const from = (namespace: string, name = 'root') => ({ name, size: '20Gi', source: { pvc: { name: 'p', namespace } } })
const cloned = (...namespaces: string[]) =>
  machine({ template: 'small', disks: namespaces.map((namespace, n) => from(namespace, `d${n}`)) })
const secret = { cloudInit: { secretRef: { name: 'init' } } }
const noSecret =
  'spec.cloudInit.secretRef.name: the Secret init does not exist yet: create it, or the machine will wait for it (W5)'
const notFrom = (n: number, namespace: string) =>
  `spec.disks[${n}].source.pvc.namespace: you may not clone from ${namespace}: create on datavolumes/source is needed there (A14)`

const rows: Array<[name: string, review: Review, said: string[], questions?: string[]]> = [
  ['a Machine', reviewOf(machines, broken), refused],
  ['A18: its deletion', reviewOf(machines, undefined, { operation: 'DELETE', old: broken }), []],
  ['A18: its status', reviewOf(machines, broken, { operation: 'UPDATE', old: machine({}), subresource: 'status' }), []],
  ['another kind', reviewOf('apps/deployments', broken), []],
  ['a kind that is called like a method', reviewOf('constructor', broken), []],
  ['a new one has no former state', reviewOf(machines, broken, { old: broken }), refused],
  ['an update that changes nothing', reviewOf(machines, broken, { operation: 'UPDATE', old: broken }), []],
  ['W5: the Secret', reviewOf(machines, machine({ template: 'small', ...secret })), [noSecret], ['secret team/init']],
  [
    'the namespace of the object counts',
    reviewOf(machines, machine({ template: 'small', ...secret }, { name: 'm', namespace: 'own' })),
    [noSecret],
    ['secret own/init']
  ],
  ['A14: allowed', reviewOf(machines, cloned('allowed')), [], ['jane clones from allowed']],
  ['A14: not allowed', reviewOf(machines, cloned('other')), [notFrom(0, 'other')], ['jane clones from other']],
  ['A14: the own namespace', reviewOf(machines, cloned('team')), []],
  [
    'A14: a source that is there already was judged when it came',
    reviewOf(machines, cloned('other', 'third'), { operation: 'UPDATE', old: cloned('other') }),
    [notFrom(1, 'third')],
    ['jane clones from third']
  ],
  [
    'both at once',
    reviewOf(machines, machine({ template: 'small', disks: [from('other')], ...secret })),
    [notFrom(0, 'other'), noSecret],
    ['jane clones from other', 'secret team/init']
  ],
  ['no object', reviewOf(machines, 'text'), ['must be an object (schema)']],
  ['no metadata', reviewOf(machines, { spec: {} }), ['metadata: must be an object (schema)']],
  ['no name', reviewOf(machines, machine({ template: 'small' }, {}), { name: '' }), ['metadata.name: must be a text (schema)']],
  ['a name to be made', reviewOf(machines, machine({ template: 'small' }, { generateName: 'a-' }), { name: '' }), []],
  [
    'a name to be made that is too long',
    reviewOf(machines, machine({ template: 'small' }, { generateName: 'A' }), { name: '' }),
    ['metadata.name: must be a DNS label of at most 63 characters, since the virtual machine is called the same (A2)']
  ],
  ['the name of the request', reviewOf(machines, machine({ template: 'small' }, {})), []],
  [
    'metadata of other types',
    reviewOf(
      machines,
      machine({ template: 'small' }, { name: 5, namespace: 5, deletionTimestamp: 5, labels: { a: 5 }, annotations: 'x' })
    ),
    [
      'metadata.name: must be a text (schema)',
      'metadata.namespace: must be a text (schema)',
      'metadata.deletionTimestamp: must be a text (schema)',
      'metadata.labels: must map texts to texts (schema)',
      'metadata.annotations: must map texts to texts (schema)'
    ]
  ],
  ['labels that are null', reviewOf(machines, machine({ template: 'small' }, { name: 'm', labels: null })), []],
  ['no namespace', reviewOf(machines, machine({ template: 'small' }), { namespace: undefined }), []]
]
for (const [name, review, said, questions = []] of rows)
  t.test(name, async t => {
    const found = await asked(review)
    t.strictSame(found.said, said)
    t.strictSame(found.questions.toSorted(), questions)
  })

const networks = 'vitistack.io/networkconfigurations'
const network = (machineCount: number) => ({ metadata: { name: 'm' }, spec: { bridge: 'br0' }, status: { machineCount } })
t.test('NC4: the deletion of a network is warned of, its status is not judged', async t => {
  t.equal((await asked(reviewOf(networks, undefined, { operation: 'DELETE', old: network(1) }))).said.length, 1)
  t.strictSame((await asked(reviewOf(networks, { ...network(0), spec: {} }, { subresource: 'status' }))).said, [])
  t.equal((await asked(reviewOf(networks, { ...network(0), spec: {} }))).said.length, 1)
})

const host = (maintenance: string, metadata: object = {}) =>
  withDefaults(Hypervisor, { metadata: { name: 'm', ...metadata }, spec: { maintenance, maintenanceReason: 'x' } })
const update: Partial<Review> = { operation: 'UPDATE', old: host(''), namespace: undefined }
const gone: Array<[name: string, object: object, more: Partial<Review>, gone: boolean]> = [
  ['it goes into maintenance', host('auto'), update, true],
  ['nothing is stored', host('auto'), { ...update, dryRun: true }, false],
  ['it was away already', host('manual'), { ...update, old: host('auto') }, false],
  ['it comes back', host(''), { ...update, old: host('auto') }, false],
  ['it is on its way out', host('auto', { deletionTimestamp: '2026-11-01T00:00:00Z' }), update, false],
  ['only its status', host('auto'), { ...update, subresource: 'status' }, false],
  ['it is new', host('auto'), { operation: 'CREATE' }, false],
  ['it is refused', withDefaults(Hypervisor, { metadata: { name: 'm' }, spec: { maintenance: 'manual' } }), update, false]
]
for (const [name, object, more, expected] of gone)
  t.test(`HV-12: a host counts as away from the moment it is let go: ${name}`, async t => {
    const { questions } = await asked(reviewOf('kvm.cloud.sap/hypervisors', object, more))
    t.strictSame(questions, expected ? ['let m go'] : [])
  })
