// A watch and its consumer: one that stops, fails or is slow.
import { once } from 'node:events'
import t from 'tap'
import { ConfigMap } from '../../shared/kube/index.ts'
import type { Answer } from './scripted.ts'
import { scripted, silence, stream } from './scripted.ts'
import { line, listed, object } from './watch-lines.ts'

for (const [name, answers] of [
  ['listing', [silence]],
  ['watching', [listed(1), stream([], 'silence')]],
  ['waiting for the watch to begin', [listed(1), silence]]
] as Array<[string, Answer[]]>) {
  t.test(`an abort ends it while it is ${name}`, async t => {
    const stop = new AbortController()
    const asking = Promise.withResolvers<void>()
    const last = answers.length - 1
    const { kube } = await scripted(
      t,
      answers.map((answer, index) => (response, request) => {
        answer(response, request)
        if (index === last) asking.resolve()
      })
    )
    const ended = (async () => {
      for await (const seen of kube.watch(ConfigMap, { signal: stop.signal })) t.equal(seen.type, 'snapshot')
    })()
    await asking.promise
    stop.abort()
    await t.resolves(ended)
  })
}

t.test('a consumer that stops closes the connection', async t => {
  const closed = Promise.withResolvers<void>()
  const { kube } = await scripted(t, [
    listed(1),
    (response, request) => {
      stream([line('ADDED', 'a', 2)], 'silence')(response, request)
      request.on('close', () => closed.resolve())
    }
  ])
  for await (const seen of kube.watch(ConfigMap, { signal: new AbortController().signal })) if (seen.type === 'changed') break
  await t.resolves(closed.promise)
})

t.test('an exception of the consumer is its own', async t => {
  const { kube } = await scripted(t, [listed(1), silence])
  const consume = async () => {
    for await (const seen of kube.watch(ConfigMap, { signal: new AbortController().signal })) throw new RangeError(seen.type)
  }
  await t.rejects(consume(), RangeError)
})

t.test('a slow consumer slows the server down, and its slowness is no silence', async t => {
  const big = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: object('big', 2, 'x'.repeat(1024 * 1024)) })}\n`)
  let written = 0
  let most = 1024 // more than any socket buffers: a server that is not slowed down gets so far
  const blocked = Promise.withResolvers<void>()
  const { kube, asked } = await scripted(
    t,
    [
      listed(1),
      async response => {
        response.writeHead(200).flushHeaders()
        while (written < most) {
          written++
          if (response.write(big)) continue
          const drained = once(response, 'drain')
          const stuck = setTimeout(() => blocked.resolve(), 2000)
          await drained
          clearTimeout(stuck)
        }
        blocked.resolve()
      }
    ],
    { idleMs: 1500 }
  )
  let count = 0
  const stop = new AbortController()
  for await (const seen of kube.watch(ConfigMap, { signal: stop.signal })) {
    if (seen.type !== 'changed') continue
    if (count++ === 0) {
      await blocked.promise
      t.ok(written < most, `the server could send ${written} of ${most} MiB`)
      most = written
    }
    if (count === written) stop.abort()
  }
  t.equal(count, written)
  t.equal(asked.length, 2, 'over one connection')
})
