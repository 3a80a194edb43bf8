import t from 'tap'
import { ConfigMap, Event, Node } from '../../shared/kube/index.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { connected } from './connected.ts'

const api = await kubernetes(t)
const { namespace } = api
const kube = await connected(t, api)
const made = await kube.create(ConfigMap, { metadata: { name: 'subject', namespace } })
const about = { ...made, apiVersion: 'v1', kind: 'ConfigMap' }
const refused = { type: 'Warning', reason: 'Refused', note: 'the spec is frozen', action: 'Validate' } as const
const eventsOf = async (where: string, name: string): Promise<Event[]> =>
  (await kube.list(Event, { namespace: where })).items.filter(({ regarding }) => regarding?.name === name)

t.test('an event is told about its object', async t => {
  await kube.event(about, refused)
  t.match(await eventsOf(namespace, 'subject'), [
    {
      ...refused,
      reportingController: 'drover-test',
      regarding: { kind: 'ConfigMap', name: 'subject', uid: made.metadata!.uid! }
    }
  ])
})

t.test('the same again is counted, by another replica too, and at the same time', async t => {
  await kube.event(about, refused)
  t.match(await eventsOf(namespace, 'subject'), [{ series: { count: 2 } }])
  const replica = await connected(t, api)
  await Promise.all([kube, replica, kube, replica].map(by => by.event(about, refused)))
  const events = await eventsOf(namespace, 'subject')
  t.match(events, [{ series: { count: 6 } }])
  t.equal(events.length, 1)
})

t.test('something else is another event', async t => {
  await kube.event(about, { ...refused, note: 'another note' })
  await kube.event(about, { ...refused, reason: 'Accepted', type: 'Normal' })
  t.equal((await eventsOf(namespace, 'subject')).length, 3)
})

t.test('an object without a namespace has its events in default; a long note is cut', async t => {
  const name = `${namespace}-events`
  t.teardown(() => kube.delete(Node, { name }))
  const node = await kube.create(Node, { metadata: { name } })
  await kube.event({ ...node, apiVersion: 'v1', kind: 'Node' }, { ...refused, note: 'ü'.repeat(2000) })
  const [event] = await eventsOf('default', name)
  t.equal(event?.note, 'ü'.repeat(512))
})
