// kill -9 loses no event that was answered 202 (issue 4 item 3).
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { Agent, request } from 'undici'
import { openJournal } from '../../../shared/local/broker/journal.ts'
import { groupCommit } from '../../../shared/local/broker/group-commit.ts'
import { broker, eventHeaders, trigger } from './manifests.ts'
import { httpSink, localSink } from './sinks.ts'
import { ref, send, start } from './start.ts'

const EVENTS = 10_000
const IN_FLIGHT = 50

async function startProcess(t: Test, sink: string, state: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(join(import.meta.dirname, 'broker-process.ts'), [sink, state], { execArgv: ['--conditions=drover'] })
  t.teardown(() => child.kill('SIGKILL'))
  const [url] = (await once(child, 'message')) as [string]
  return { child, url }
}

t.setTimeout(110_000)

void t.test('killed in the middle of 10,000 events', async t => {
  const state = join(t.testdir(), 'state.db')
  const delivered = new Set<string>()
  let all = (): void => {}
  const acknowledged = new Set<string>()
  const sink = await httpSink(t, ({ headers }) => {
    delivered.add(headers['ce-id']!)
    all()
    return { status: 204 }
  })
  const agent = new Agent()
  t.teardown(() => agent.destroy())
  let running = await startProcess(t, sink.url, state)
  let killed: Promise<void> | undefined

  const post = async (id: string): Promise<boolean> => {
    try {
      const answer = await request(running.url, { method: 'POST', headers: eventHeaders({ id }), body: id, dispatcher: agent })
      await answer.body.dump()
      return answer.statusCode === 202
    } catch {
      return false
    }
  }
  const killAndRestart = async (): Promise<void> => {
    running.child.kill('SIGKILL')
    await once(running.child, 'exit')
    running = await startProcess(t, sink.url, state)
  }

  let next = 0
  let lateForKill = 0
  const sender = async (): Promise<void> => {
    while (next < EVENTS) {
      const id = String(next++)
      if (await post(id)) acknowledged.add(id)
      else await killed // not acknowledged: no promise was given, and none is tested
      if (acknowledged.size >= EVENTS / 2 && !killed) {
        lateForKill = acknowledged.size - delivered.size
        killed = killAndRestart()
      }
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender))
  await killed
  const missing = (): number => [...acknowledged].filter(id => !delivered.has(id)).length
  await new Promise<void>(resolve => {
    all = () => missing() === 0 && resolve()
    all()
  })
  t.comment(
    `${lateForKill} acknowledged events were not delivered when it was killed, ${EVENTS - acknowledged.size} were never acknowledged`
  )
  t.ok(acknowledged.size >= EVENTS - IN_FLIGHT - 1, 'only what was under way could fail')
  t.equal(missing(), 0, 'every acknowledged event was delivered')
})

void t.test('what an earlier process left is delivered at the next start, in order', async t => {
  const db = new DatabaseSync(':memory:')
  const journal = openJournal(db, groupCommit(db))
  const stored = (seq: number, left: string[]) => ({
    seq,
    broker: 'test/b',
    event: {
      attributes: { specversion: '1.0', id: String(seq), type: 'a', source: '/s', partitionkey: 'k' },
      body: Buffer.from('data')
    },
    passed: { traceparent: 'tp' },
    ttl: 255,
    left: new Set(left)
  })
  await Promise.all([1, 2, 3].map(seq => journal.add(stored(seq, ['test/one', 'test/two']))))
  await journal.progress(stored(2, ['test/two']))
  await journal.add(stored(4, ['test/gone']))

  const [one, two] = [localSink(), localSink()]
  const manifests = [broker('b'), trigger('one', { subscriber: ref('one') }), trigger('two', { subscriber: ref('two') })]
  const running = await start(t, manifests, { one, two }, { state: db })
  await running.idle()
  t.strictSame(
    one.received.map(({ headers }) => headers['ce-id']),
    ['1', '3']
  )
  t.strictSame(
    two.received.map(({ headers }) => headers['ce-id']),
    ['1', '2', '3']
  )
  t.match(one.received[0], { headers: { traceparent: 'tp' }, body: Buffer.from('data') })
  t.equal(
    db.prepare('SELECT count(*) AS n FROM broker_events').get()?.n,
    0,
    'nothing is left, not even for a Trigger that is gone'
  )
  t.equal(await send(running, { id: '5' }), 202)
})

void t.test('a store that fails is told to the sender', async t => {
  const db = new DatabaseSync(':memory:')
  const sink = localSink()
  const errors: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (_: object, message: string) => void errors.push(message) }
  const running = await start(t, [broker('b'), trigger('t', { subscriber: ref('s') })], { s: sink }, { state: db, log })
  db.exec('DROP TABLE broker_events')
  t.equal(await send(running), 500)
  t.strictSame(sink.received, [])
  t.strictSame(errors, ['an event could not be stored'])
})
