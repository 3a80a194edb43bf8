import t from 'tap'
import { Outbox, type Outcome } from '../../../agents/cluster/outbox.ts'
import { merge, type Message } from '../../../agents/cluster/to-event.ts'

const message = (name: string, version = '1', changed: Message['changed'] = ['spec']): Message => ({
  id: `${name}/${version}`,
  type: 'io.k8s.node.changed.v1',
  subject: name,
  partitionkey: name,
  sequence: version,
  changed,
  data: { apiVersion: 'v1', kind: 'Node', name, uid: name, resourceVersion: version }
})

/** A broker that answers when the test says so, and a wait that ends when the test says so. */
function scene(concurrency?: number) {
  const sends: Array<{ message: Message; answer: (outcome: Outcome) => void }> = []
  const pauses: Array<{ attempt: number; end: () => void }> = []
  const outbox = new Outbox({
    send: message => new Promise(answer => sends.push({ message, answer })),
    pause: attempt => new Promise(end => pauses.push({ attempt, end })),
    merge,
    ...(concurrency !== undefined && { concurrency })
  })
  const turn = () => new Promise(setImmediate)
  return { outbox, sends, pauses, turn, ids: () => sends.map(({ message }) => message.id) }
}

t.test('one object is told in order, and never twice at once', async t => {
  const { outbox, sends, turn, ids } = scene()
  outbox.put('a', message('a', '1', ['spec']))
  outbox.put('a', message('a', '2', ['labels']))
  outbox.put('a', message('a', '3', ['status']))
  t.strictSame(ids(), ['a/1'])
  sends[0]?.answer('sent')
  await turn()
  t.strictSame(ids(), ['a/1', 'a/3'], 'what came meanwhile is one message with the newest state')
  t.strictSame(sends[1]?.message.changed, ['labels', 'status'], 'and everything that changed')
  sends[1]?.answer('sent')
  await outbox.drained()
  t.equal(outbox.size, 0)
})

t.test('a refused object waits aside and holds nobody up', async t => {
  const { outbox, sends, pauses, turn, ids } = scene(1)
  outbox.put('a', message('a'))
  outbox.put('b', message('b'))
  sends[0]?.answer('later')
  await turn()
  t.strictSame(ids(), ['a/1', 'b/1'])
  sends[1]?.answer('sent')
  await turn()
  t.equal(outbox.size, 1)
  t.equal(pauses[0]?.attempt, 1)
  outbox.put('a', message('a', '2', ['labels']))
  pauses[0]?.end()
  await turn()
  t.strictSame(sends[2]?.message.changed, ['spec', 'labels'], 'what was refused is told with the newer state')
  t.equal(sends[2]?.message.id, 'a/2')
})

t.test('while nobody answers one message is tried, and all go out when it is taken', async t => {
  const { outbox, sends, pauses, turn, ids } = scene(10)
  for (const name of ['a', 'b', 'c']) outbox.put(name, message(name))
  t.equal(sends.length, 3)
  for (const { answer } of sends) answer('away')
  await turn()
  t.equal(outbox.away, true)
  t.equal(pauses.length, 1, 'one waits for all')
  outbox.put('d', message('d'))
  t.equal(sends.length, 3, 'nothing new is tried')
  pauses[0]?.end()
  await turn()
  t.equal(sends.length, 4, 'a single probe')
  sends[3]?.answer('away')
  await turn()
  t.equal(pauses[1]?.attempt, 2, 'with a longer wait')
  pauses[1]?.end()
  await turn()
  sends[4]?.answer('sent')
  await turn()
  t.equal(outbox.away, false)
  t.strictSame(new Set(ids().slice(4)), new Set(['a/1', 'b/1', 'c/1', 'd/1']))
})

t.test('an object that went and came again is told as it is now', async t => {
  const { outbox, sends, turn } = scene()
  outbox.put('a', message('a'))
  outbox.put('a', { ...message('a'), type: 'io.k8s.node.deleted.v1', id: 'a/deleted', changed: [] })
  const reborn = message('a', '9', ['created'])
  outbox.put('a', { ...reborn, data: { ...reborn.data, uid: 'other' } })
  sends[0]?.answer('sent')
  await turn()
  t.equal(sends[1]?.message.data.uid, 'other')
  t.strictSame(sends[1]?.message.changed, ['created'])
})

t.test('closing lets nobody wait', async t => {
  const { outbox } = scene()
  outbox.put('a', message('a'))
  const drained = outbox.drained()
  outbox.close()
  await t.resolves(drained)
})
