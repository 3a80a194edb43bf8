import t from 'tap'
import { lookAgain } from '../../shared/runtime/look-again.ts'

const log = { warn: () => {} }

t.test('callers that come while one waits to begin share a look', async t => {
  let looks = 0
  const first = Promise.withResolvers<undefined>()
  const looking = lookAgain({ look: async () => (++looks === 1 ? first.promise : undefined), log, longestMs: 1000 })
  const all = [looking.now('a'), looking.now('a'), looking.now('a')]
  first.resolve(undefined)
  await Promise.all(all)
  t.equal(looks, 2)
  await looking.close()
})

t.test('a stop waits for the look that runs, and refuses who waits for one that is not made', async t => {
  const running = Promise.withResolvers<undefined>()
  let looks = 0
  const looking = lookAgain({ look: () => (looks++, running.promise), log, longestMs: 1000 })
  const begun = looking.now('a')
  const waits = t.rejects(looking.now('a'), { message: /a was not looked at: this process stops/ })
  const closing = looking.close()
  await waits
  running.resolve(undefined)
  await Promise.all([begun, closing])
  await t.rejects(looking.now('a'), { message: /this process stops/ })
  t.equal(looks, 1)
})
