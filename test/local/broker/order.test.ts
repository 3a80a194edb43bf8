// One trigger does not delay another; within a trigger events of one partitionkey come one after another.
import t from 'tap'
import type { Answer } from '../../../shared/local/broker/index.ts'
import { broker, trigger } from './manifests.ts'
import { localSink } from './sinks.ts'
import { ref, send, start } from './start.ts'

void t.test('same key: one after another, retries included; other keys and no key: at once', async t => {
  const release = new Map<string, (answer: Answer) => void>()
  const sink = localSink(({ headers }) => new Promise(resolve => release.set(headers['ce-id']!, resolve)))
  const running = await start(t, [broker('b'), trigger('t', { subscriber: ref('s'), delivery: { retry: 1 } })], { s: sink })
  for (const [id, partitionkey] of Object.entries({ a1: 'a', a2: 'a', b1: 'b', n1: undefined, n2: undefined })) {
    await send(running, { id, ...(partitionkey && { partitionkey }) })
  }
  const ids = (): string[] => sink.received.map(({ headers }) => headers['ce-id']!)
  await sink.until(4)
  t.strictSame(ids(), ['a1', 'b1', 'n1', 'n2'])
  release.get('a1')!({ status: 503 })
  await sink.until(5)
  release.get('a1')!({ status: 204 })
  await sink.until(6)
  t.strictSame(ids().slice(4), ['a1', 'a2'])
  for (const answer of release.values()) answer({ status: 204 })
  await running.idle()
})

void t.test('at most inFlight requests at once', async t => {
  let now = 0
  let most = 0
  const sink = localSink(async () => {
    most = Math.max(most, ++now)
    await new Promise(resolve => setImmediate(resolve))
    now--
    return { status: 204 }
  })
  const running = await start(t, [broker('b'), trigger('t', { subscriber: ref('s') })], { s: sink }, { limits: { inFlight: 3 } })
  await Promise.all(Array.from({ length: 50 }, (_, i) => send(running, { id: String(i) })))
  await running.idle()
  t.equal(sink.received.length, 50)
  t.equal(most, 3)
})
