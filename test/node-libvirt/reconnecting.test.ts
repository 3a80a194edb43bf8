import t from 'tap'
import { LibvirtError, reconnecting } from 'node-libvirt'
import { delayMs } from '../../shared/node-libvirt/src/reconnecting.ts'

const backoff = { minMs: 100, maxMs: 5000, jitter: 0 }

/** Opens by a list of outcomes; notes closings and waits. */
function world(outcomes: Array<'ok' | LibvirtError>) {
  const log: string[] = []
  let opened = 0
  return {
    log,
    open: async () => {
      const outcome = outcomes.shift() ?? 'ok'
      if (outcome !== 'ok') throw outcome
      const name = `session ${++opened}`
      log.push(name)
      return { name, closed: Promise.resolve(undefined), close: async () => void log.push(`${name} closed`) }
    },
    wait: async (ms: number) => void log.push(`wait ${ms}`)
  }
}

const down = () => new LibvirtError('connect', 'down')

t.test('a new session each time, the old one closed first', async t => {
  const { log, open, wait } = world([])
  for await (const session of reconnecting(open, { backoff, wait })) if (session.name === 'session 3') break
  t.strictSame(log, [
    'session 1',
    'session 1 closed',
    'wait 100',
    'session 2',
    'session 2 closed',
    'wait 100',
    'session 3',
    'session 3 closed'
  ])
})

t.test('failures wait longer each time, a success starts anew', async t => {
  const { log, open, wait } = world([down(), down(), down(), 'ok', down(), 'ok'])
  const failures: number[] = []
  for await (const session of reconnecting(open, { backoff, wait, onFailure: (_, n) => failures.push(n) }))
    if (session.name === 'session 2') break
  t.strictSame(log, [
    'wait 200',
    'wait 400',
    'wait 800',
    'session 1',
    'session 1 closed',
    'wait 100',
    'wait 200',
    'session 2',
    'session 2 closed'
  ])
  t.strictSame(failures, [1, 2, 3, 1])
})

t.test('an error that no waiting mends is thrown, unless told otherwise', async t => {
  const wrong = new LibvirtError('auth', 'wrong password')
  await t.rejects(reconnecting(world([wrong]).open, { backoff, wait: async () => {} }).next(), wrong)
  const { open, wait } = world([wrong])
  const sessions = reconnecting(open, { backoff, wait, shouldRetry: () => true })
  t.match(await sessions.next(), { done: false, value: { name: 'session 1' } })
  await sessions.return()
})

t.test('an error of the loop itself is not swallowed, and the session is closed', async t => {
  const { log, open, wait } = world([])
  const listen = async () => {
    for await (const _ of reconnecting(open, { backoff, wait })) throw new TypeError('mine')
  }
  await t.rejects(listen(), TypeError)
  t.strictSame(log, ['session 1', 'session 1 closed'])
})

t.test('an abort ends it: while a session runs, while it waits, while it opens', async t => {
  for (const when of ['session', 'wait', 'open'] as const) {
    const abort = new AbortController()
    const open = async () => {
      if (when !== 'session') {
        if (when === 'open') abort.abort()
        throw down()
      }
      return { closed: Promise.resolve(undefined), close: async () => {} }
    }
    let sessions = 0
    const failed = () => when === 'wait' && abort.abort()
    for await (const _ of reconnecting(open, { signal: abort.signal, onFailure: failed })) {
      sessions++
      abort.abort()
    }
    t.equal(sessions, when === 'session' ? 1 : 0, when)
  }
})

t.test('delays: 0.1 s to 5 s (NA-7), the same or a little less by chance', async t => {
  const nominal = { ...backoff, jitter: 0.2 }
  t.strictSame(
    [0, 1, 2, 5, 6, 100].map(n => delayMs(nominal, n, 0)),
    [100, 200, 400, 3200, 5000, 5000]
  )
  t.equal(delayMs(nominal, 0, 1), 80)
})
