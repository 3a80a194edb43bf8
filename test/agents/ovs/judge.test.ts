// What is gathered, judged, queued and never done: the agent's own rules, without a switch.
import { glob, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Gauge, Registry } from 'prom-client'
import { once } from 'node:events'
import t from 'tap'
import { Type } from 'typebox'
import { type Agent, startAgent } from '../../../shared/runtime/agent.ts'
import { findingsOf, healthOf } from '../../../agents/ovs/findings.ts'
import { Inbox, onlyNews, poll } from '../../../agents/ovs/inbox.ts'
import { defaultTimings } from '../../../agents/ovs/issue-types.ts'
import { Judge } from '../../../agents/ovs/judge.ts'
import { flowFaults } from '../../../agents/ovs/flows.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import { type Fact, nothingYet } from '../../../agents/ovs/observed.ts'
import { Publisher } from '../../../agents/ovs/publish.ts'
import { eventQueue } from '../../../agents/ovs/queue.ts'
import { kernelBonds } from '../../../agents/ovs/sources/kernel-bonds.ts'
import { flowCounts } from '../../../agents/ovs/sources/flow-counts.ts'
import { statisticsColumns, switchTables } from '../../../agents/ovs/tables.ts'
import { toEvent } from '../../../agents/ovs/to-event.ts'
import { readLookups } from '../../../agents/ovs/wire/lookups.ts'
import { finding } from '../../../agents/ovs/finding.ts'
import type { Status } from '../../../agents/ovs/to-status.ts'
import type { Kube } from '../../../shared/kube/index.ts'
import { createLog } from '../../../shared/runtime/log.ts'
import { spool } from '../../../shared/runtime/spool.ts'
import { watch } from '../../../agents/ovs/watch.ts'
import { eventually } from '../../servers/eventually.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { tables } from './tables.ts'

const log = createLog({ name: 'test', level: 'silent' })
const agents = join(import.meta.dirname, '../../../agents/ovs')
const judge = () =>
  new Judge({
    node: 'n1',
    timings: defaultTimings,
    settings: { expectedBridges: ['br-int'] },
    heartbeatSeconds: 30,
    agentVersion: '0'
  })
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))

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

t.test('OV-54 observedAt follows the answers of the database, or the news that it is lost', async t => {
  const one = judge()
  const healthy = tables([{ name: 'br-int' }])
  one.take({ ovsdb: 'connected', vswitchd: 'responding', tables: healthy }, at(0))
  t.equal(one.observedAt, at(0).toISOString())
  one.take({ heartbeat: { at: 1, answered: false } }, at(30))
  t.equal(one.observedAt, at(0).toISOString(), 'connected, and no answer: not advanced')
  one.take({ heartbeat: { at: 2, answered: true } }, at(60))
  t.equal(one.observedAt, at(60).toISOString())
  one.take({ ovsdb: 'lost', tables: undefined, heartbeat: { at: 3, answered: false } }, at(90))
  t.equal(one.observedAt, at(90).toISOString(), 'lost is what there is to say')
})

t.test(
  'OV-29 a stored status that comes late: what ended meanwhile is taken back, what this life told stays its own',
  async t => {
    const one = judge()
    const down = { name: 'b', link_state: 'down' }
    const ports = [{ name: 'bond0', bond_active_slave: '02:00:00:00:00:01', interfaces: [{ name: 'a' }, down] }]
    one.take(
      { ovsdb: 'connected', vswitchd: 'responding', tables: tables([{ name: 'br-int' }, { name: 'br-ex', ports }]) },
      at(0)
    )
    const stored = (object: string) => ({ type: 'BondMemberDown', object, message: '', detectedAt: '2025-12-31T00:00:00.000Z' })
    one.recall({ issues: [stored('bond0/a'), stored('bond0/b')] }, at(12).getTime())
    one.take({}, at(12))
    const { events, status } = one.take({}, at(14))
    matchWhole(t, events, [{ subject: 'bond0/a', data: { after: 'Usable', detectedAt: '2025-12-31T00:00:00.000Z' } }])
    t.equal(events.length, 1)
    matchWhole(t, status.issues, [{ object: 'bond0/b', detectedAt: at(0).toISOString() }])
  }
)

t.test(
  'OV-32, OV-36, OV-49 a message names the object, what was seen and the next step; the evidence tells slow timers',
  async t => {
    const member = { name: 'a', ofport: -1, error: 'could not open', link_state: undefined }
    const seen = {
      ...nothingYet,
      ovsdb: 'connected' as const,
      vswitchd: 'responding' as const,
      tables: tables([
        { name: 'br-int' },
        {
          name: 'br-ex',
          ports: [{ name: 'bond0', lacp: 'active', bond_active_slave: '02:00:00:00:00:01', interfaces: [member, { name: 'b' }] }]
        }
      ])
    }
    const found = findingsOf(seen, healthOf(seen, { expectedBridges: ['br-int'] }))
    t.match(
      found.find(({ object }) => object === 'bond0/a'),
      { message: /a of bond0 has no device.*delete the port and add it anew/, evidence: { 'lacp-time': 'slow' } }
    )
    for (const { message, object } of found) {
      t.ok(
        object.split('/').every(word => message.includes(word)),
        message
      )
      t.match(message, /\b(Check|Create|Correct|Look|Set|Remove|delete|Re-add)\b/)
    }
  }
)

t.test(
  'OV-31 the queue is bounded: beyond a thousand events the oldest go, counted, and an issue says so until it is empty',
  async t => {
    const stop = new AbortController()
    const metrics = new Registry()
    let away = true
    const sent: string[] = []
    const events = await spool({
      folder: t.testdir(),
      maxBytes: 1024 * 1024,
      send: async ({ subject }) => {
        if (away) throw new Error('the sink is away')
        sent.push(subject ?? '')
      },
      log,
      metrics,
      clock: () => at(0),
      signal: stop.signal,
      backoff: { attempts: Number.POSITIVE_INFINITY, minDelayMs: 5, maxDelayMs: 5 }
    })
    const told = (count: number) => {
      const about = finding('OrphanPort', `tap${count}`, 'an orphan', {
        evidence: { ofport: '-1', linkState: 'none', error: 'could not open' }
      })
      const event = toEvent({ kind: 'raised', finding: about, detectedAt: at(0).toISOString() }, 'n1', at(0))
      if (!event) throw new Error('no event')
      return event
    }
    const total = 3000
    for (let count = 0; count < total; count += 100)
      await Promise.all(Array.from({ length: 100 }, (_, at) => events.put(told(count + at))))
    t.ok(events.size >= 1000 && events.size < total, `${events.size} wait`)
    const queue = () => eventQueue(events, metrics, stop.signal).next()
    const { value: full } = await queue()
    t.equal((full?.eventQueue?.dropped ?? 0) + (full?.eventQueue?.size ?? 0), total, 'every one is counted')
    const one = judge()
    const issues = (fact: typeof full) =>
      one.take(fact ?? {}, at(1)).status.issues?.map(({ id, severity }) => `${severity} ${id}`)
    t.ok(issues(full)?.includes('Warning EventQueueFull/events'))
    away = false
    await events.idle()
    t.equal(sent.at(-1), `tap${total - 1}`, 'the newest were kept')
    const drained = await eventually('an empty queue', async () => {
      const { value } = await queue()
      return value?.eventQueue?.size === 0 && value
    })
    t.notOk(issues(drained)?.includes('Warning EventQueueFull/events'))
    stop.abort()
    await events.closed
  }
)

t.test('OV-2, OV-52 written when something changed or at the heartbeat; a burst of five, then one a second', async t => {
  const stop = new AbortController()
  const written: Array<number | undefined> = []
  const kube = {
    find: async () => undefined,
    apply: async () => ({}),
    applyStatus: async (_kind: unknown, { status }: { status: Status }) => void written.push(status.issueCount)
  } as unknown as Kube
  const publisher = new Publisher({ kube, node: 'n1', namespace: 'x', log, signal: stop.signal, onWritten: () => {} })
  const status = (issueCount: number, observedAt = 'a'): Status => ({ issueCount, observedAt })
  const settled = (count: number) => eventually(`${count} writes`, async () => written.length === count)
  const running = publisher.run()
  publisher.offer(status(1), false)
  await settled(1)
  publisher.offer(status(1, 'b'), false) // only the time of it differs
  publisher.offer(status(1, 'c'), true)
  await settled(2)
  const began = performance.now()
  for (let count = 2; written.at(-1) !== 12; count = Math.min(count + 1, 12)) {
    publisher.offer(status(count), false)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  const seconds = (performance.now() - began) / 1000
  t.ok(written.length <= 2 + 5 + Math.ceil(seconds), `${written.length} writes in ${seconds} s`)
  t.equal(written.at(-1), 12, 'the newest is written')
  stop.abort()
  await running
})

t.test('OV-52 counts of flows and packets, which always change, wait for the heartbeat', async t => {
  const stop = new AbortController()
  const written: Status[] = []
  const kube = {
    find: async () => undefined,
    apply: async () => ({}),
    applyStatus: async (_kind: unknown, { status }: { status: Status }) => void written.push(status)
  } as unknown as Kube
  const publisher = new Publisher({ kube, node: 'n1', namespace: 'x', log, signal: stop.signal, onWritten: () => {} })
  const running = publisher.run()
  const status = (flows: number, issueCount = 0): Status => ({
    issueCount,
    bridges: [{ name: 'br-int', status: 'Active', flows }],
    flowStats: { totalFlows: flows, flowsPerTable: [{ bridge: 'br-int', table: 0, flows }] }
  })
  publisher.offer(status(1), false)
  await eventually('the first write', async () => written.length === 1)
  publisher.offer(status(2), false)
  publisher.offer(status(3, 1), false) // with what is worth a write
  await eventually('the second write', async () => written.length === 2)
  publisher.offer(status(4, 1), false)
  publisher.offer(status(5, 1), true)
  await eventually('the heartbeat', async () => written.length === 3)
  t.strictSame(
    written.map(({ flowStats }) => flowStats?.totalFlows),
    [1, 3, 5]
  )
  stop.abort()
  await running
})

/** Polls of one bridge; each turn gives the flows by table and the pid of ovs-vswitchd. */
async function countFlows(turns: Array<{ tables: number[]; pid: number }>) {
  let at = -1
  const asked: string[] = []
  const turn = () => turns[Math.max(0, at)] as (typeof turns)[number]
  const sum = () => turn().tables.reduce((total, flows) => total + flows, 0)
  const daemons = {
    ask: async () => '',
    pid: async () => turn().pid,
    statistics: async (_bridge: string, questions: readonly unknown[]) => {
      asked.push(questions.length === 1 ? 'total' : 'tables')
      const perTable = turn().tables.map((flows, table) => ({ table, flows }))
      return [{ flows: sum(), packets: 0n, bytes: 0n }, perTable].slice(0, questions.length) as never
    }
  }
  const current = () => ({ ...nothingYet, tables: tables([{ name: 'br-int' }]) })
  const stop = new AbortController()
  const polls = flowCounts({ daemons, everyMs: 0, heartbeatMs: 60_000, current, now: () => at * 5000 }, stop.signal)
  const facts: Array<Fact | undefined> = []
  for (at = 0; at < turns.length; at++) facts.push((await polls.next()).value as Fact | undefined)
  stop.abort()
  await polls.return(undefined)
  return { facts, asked }
}

t.test('OV-22, OV-24 the total every five seconds; the tables too when they no longer add up to it', async t => {
  const steady = { tables: [3, 4], pid: 1 }
  const { facts, asked } = await countFlows([steady, steady, { tables: [3, 9], pid: 1 }, { tables: [3, 9], pid: 1 }])
  t.strictSame(asked, ['tables', 'total', 'total', 'tables', 'total'])
  for (const fact of facts) {
    const { total, perTable = [] } = fact?.flows?.get('br-int') ?? {}
    t.equal(
      perTable.reduce((all, { flows }) => all + flows, 0),
      total
    )
  }
})

t.test('a vswitchd that was restarted between two polls has no flows for a moment: not taken for wiped', async t => {
  const wiped = async (pid: number) => {
    const { facts } = await countFlows([
      { tables: [100], pid: 1 },
      { tables: [0], pid },
      { tables: [0], pid }
    ])
    const model = modelOf(tables([{ name: 'br-int' }], { 'ovn-remote': 'tcp:x' }))
    return flowFaults(model, { ...nothingYet, ovn: 'connected', flowTrend: facts.at(-1)?.flowTrend }).map(({ kind }) => kind)
  }
  t.strictSame(await wiped(1), ['Wiped'])
  t.strictSame(await wiped(2), [])
})

t.test('OV-37 a bond whose file cannot be read any more is unknown, not gone', async t => {
  const dir = t.testdir({ bonding: { bond0: await readFile(join(import.meta.dirname, 'bonding/active-backup'), 'utf8') } })
  const folder = join(dir, 'bonding')
  const stop = new AbortController()
  const polls = kernelBonds(folder, 1, stop.signal)
  const next = async () => ((await polls.next()).value as Fact).kernelBonds
  t.match((await next())?.get('bond0'), { mode: 'active-backup' })
  await rename(folder, `${folder}-away`)
  await writeFile(folder, 'no folder at all')
  t.strictSame([...((await next()) ?? [])], [['bond0', undefined]])
  await rm(folder)
  t.strictSame(await next(), new Map(), 'without bonding in the kernel there are no bonds')
  stop.abort()
  await polls.return(undefined)
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

t.test('OV-6, OV-7, OV-15 only what is needed is followed, and neither counters nor controllers', async t => {
  t.strictSame(Object.keys(switchTables), ['Open_vSwitch', 'Bridge', 'Port', 'Interface', 'sFlow', 'Mirror'])
  const followed = Object.values(switchTables).flatMap(columns => Object.keys(columns))
  t.notOk(followed.includes('statistics'))
  t.notOk('status' in switchTables.Port)
  t.strictSame(Object.keys(statisticsColumns), ['name', 'statistics'])
})

t.test('OV-9, OV-17 no process is started, and only the rows of captures are written', async t => {
  const writers: string[] = []
  for (const file of await Array.fromAsync(glob('**/*.ts', { cwd: agents }))) {
    const text = await readFile(join(agents, file), 'utf8')
    t.notMatch(text, /child_process|worker_threads|\.node'/, file)
    if (/\b(insert|update|mutate|remove)\b[^\n]* from 'ovsdb-client'/.test(text)) writers.push(file)
  }
  t.strictSame(writers, ['capture/rows.ts'])
})

t.test('OV-71 lookups of every datapath, exact; from text that is not understood nothing is read', async t => {
  const text = `netdev@ovs-netdev:
  lookups: hit:18446744073709551615 missed:4 lost:1
  flows: 3
  port 0: ovs-netdev (tap)
system@ovs-system:
  lookups: hit:1 missed:2 lost:3
`
  t.strictSame(
    readLookups(text),
    new Map([
      ['netdev@ovs-netdev', { hit: 2n ** 64n - 1n, missed: 4n, lost: 1n }],
      ['system@ovs-system', { hit: 1n, missed: 2n, lost: 3n }]
    ])
  )
  t.strictSame(readLookups('nonsense: hit'), new Map())
})

t.test('OV-71 a metric that cannot be read, as before the first snapshot, does not end the agent', async t => {
  let there = false
  const collect = () => {
    if (!there) throw new Error('not there yet')
  }
  const agent: Agent = {
    name: 'probe',
    config: Type.Object({}),
    async run(_config, { metrics, signal }) {
      metrics.registerMetric(new Gauge({ name: 'probe', help: 'probe', registers: [], collect }))
      await once(signal, 'abort')
    }
  }
  const lines: string[] = []
  const running = await startAgent(agent, {
    env: { PORT: '0', HOST: '127.0.0.1' },
    logs: { write: line => void lines.push(line) }
  })
  t.teardown(() => running.close())
  const status = async (path: string) => (await fetch(`${running.url}${path}`)).status
  t.equal(await status('/metrics'), 500)
  t.match(lines.join(''), /a metric could not be read.*/)
  t.equal(await status('/healthz'), 200)
  there = true
  t.equal(await status('/metrics'), 200)
})
