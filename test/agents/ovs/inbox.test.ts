// What the sources say is gathered, and judged only when there is news; without a switch.
import t from 'tap'
import { Inbox, onlyNews, poll } from '../../../agents/ovs/inbox.ts'
import type { Fact } from '../../../agents/ovs/observed.ts'
import { watch } from '../../../agents/ovs/watch.ts'

t.test('OV-25 what comes together is judged once', async t => {
  const inbox = new Inbox(20)
  inbox.put({ vswitchd: 'responding' })
  inbox.put({ ovn: 'connected' })
  inbox.put({ ovn: 'not-connected' })
  const { value } = await inbox.facts(new AbortController().signal).next()
  t.strictSame(value, { vswitchd: 'responding', ovn: 'not-connected' })
})

t.test('OV-24 a poll does not overlap itself, however slow', async t => {
  const stop = new AbortController()
  let running = 0
  let turns = 0
  const look = async () => {
    t.equal(++running, 1)
    await new Promise(resolve => setTimeout(resolve, 5))
    running--
    if (++turns === 5) stop.abort()
    return {}
  }
  t.ok((await Array.fromAsync(poll(() => 0, stop.signal, look))).length >= 5)
})

t.test('what a poll shows again is no news: it need not be judged', async t => {
  const shown = [1, 1, 2, 2, 1].map((size): Fact => ({ eventQueue: { size, dropped: 0 } }))
  const polled = async function* (): AsyncGenerator<Fact> {
    yield* shown
  }
  t.strictSame(await Array.fromAsync(onlyNews(polled())), [shown[0], shown[2], shown[4]])
})

t.test('a source that has nothing to say is no reason to judge again', async t => {
  const stop = new AbortController()
  const source = async function* (facts: Fact[]): AsyncGenerator<Fact> {
    yield* facts
  }
  const judged: Fact[] = []
  for await (const fact of watch([source([{}]), source([{ ovn: 'connected' }, {}])], new Inbox(5), stop.signal)) {
    judged.push(fact)
    stop.abort()
  }
  t.strictSame(judged, [{ ovn: 'connected' }])
})
