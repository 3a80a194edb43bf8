// What is judged, told and queued: the agent’s own rules, without a switch.
import { Registry } from 'prom-client'
import t from 'tap'
import { findingsOf, healthOf } from '../../../agents/ovs/findings.ts'
import { defaultTimings } from '../../../agents/ovs/issue-types.ts'
import { Judge } from '../../../agents/ovs/judge.ts'
import { nothingYet } from '../../../agents/ovs/observed.ts'
import { eventQueue } from '../../../agents/ovs/queue.ts'
import { toEvent } from '../../../agents/ovs/to-event.ts'
import { finding } from '../../../agents/ovs/finding.ts'
import { type Condition, timestamp } from '../../../shared/kube/conditions.ts'
import { createLog } from '../../../shared/runtime/log.ts'
import { spool } from '../../../shared/runtime/spool.ts'
import { eventually } from '../../servers/eventually.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { tables } from './tables.ts'

const log = createLog({ name: 'test', level: 'silent' })
const judge = () =>
  new Judge({
    node: 'n1',
    timings: defaultTimings,
    settings: { expectedBridges: ['br-int'] },
    heartbeatSeconds: 30,
    agentVersion: '0'
  })
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))

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
  one.take({ ovn: 'unknown' }, at(95))
  t.equal(one.observedAt, at(90).toISOString(), 'another fact says nothing of the database')
})

const turned = (one: Judge, type = 'Ready') => one.conditions.find(condition => condition.type === type)?.lastTransitionTime
const stamp = (second: number) => timestamp(at(second))
const nothing = { ovsdb: 'connected', vswitchd: 'responding', tables: tables([{ name: 'br-int' }]) } as const
const ready = (status: 'True' | 'Unknown', second: number): Condition => ({
  type: 'Ready',
  status,
  reason: 'x',
  message: 'x',
  lastTransitionTime: stamp(second)
})

t.test('OV-29: a condition that has not changed keeps the time that an earlier life of the agent stored', async t => {
  const one = judge()
  one.recall({ conditions: [ready('True', 5)] }, at(10).getTime())
  one.take(nothing, at(10))
  t.equal(turned(one), stamp(5))
  one.recall({ conditions: [ready('True', 1)] }, at(20).getTime())
  one.take({}, at(20))
  t.equal(turned(one), stamp(5), 'what this life told already counts more')
})

t.test('OV-53: the agent takes back a condition that another forced, from that moment', async t => {
  const one = judge()
  one.take(nothing, at(10))
  one.overruled(ready('Unknown', 20))
  one.take({}, at(30))
  t.equal(turned(one), stamp(30))
  t.equal(turned(one, 'OVSDBConnected'), stamp(10), 'the others are as they were')
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
