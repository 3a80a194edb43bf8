// NA-10: bounded, the oldest that may go goes first, how a domain ended is never dropped, and a listing follows
import * as fc from 'fast-check'
import type { DomainEvent } from 'node-libvirt'
import t from 'tap'
import { FactQueue, isCoalescable } from '../../../agents/hypervisor/libvirt/fact-queue.ts'
import type { Fact } from '../../../agents/hypervisor/libvirt/fact.ts'
import { sender } from '../../../agents/hypervisor/sender.ts'
import { fullReport } from '../../../agents/hypervisor/to-event.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const event = (kind: string, of: string, told: object = {}): Fact => ({
  kind: 'event',
  epoch: 1,
  at: new Date(0),
  event: { kind, domain: { uuid: of, name: of, id: 1 }, ...told } as DomainEvent
})
const life = (of: string, what: string) => event('lifecycle', of, { event: what, detail: 'x' })

async function drain(queue: FactQueue): Promise<Fact[]> {
  queue.end()
  return Array.fromAsync(queue)
}

t.test('which facts may go', async t => {
  for (const what of ['started', 'resumed', 'suspended', 'defined', 'shutdown']) t.ok(isCoalescable(life('a', what)), what)
  for (const what of ['stopped', 'crashed', 'undefined']) t.notOk(isCoalescable(life('a', what)), what)
  for (const kind of ['watchdog', 'reboot', 'io-error-reason', 'control-error', 'memory-failure'])
    t.notOk(isCoalescable(event(kind, 'a')), kind)
  for (const kind of ['migration-iteration', 'agent-lifecycle', 'io-error']) t.ok(isCoalescable(event(kind, 'a')), kind)
  t.notOk(isCoalescable({ kind: 'snapshot', epoch: 1, domains: [] }))
  t.notOk(isCoalescable({ kind: 'domain', epoch: 1, id: 'a', read: undefined }), 'it is gone')
})

t.test('the mark stands where the first was dropped, counts them, and asks for a listing when it is read', async t => {
  let listings = 0
  const queue = new FactQueue({ capacity: 3, onOverflow: () => void (listings += 1) })
  const [stop, ...starts] = [
    life('a', 'stopped'),
    life('b', 'started'),
    life('c', 'started'),
    life('d', 'started'),
    life('e', 'started')
  ]
  queue.push(stop)
  for (const start of starts) queue.push(start)
  t.equal(listings, 0, 'a listing now could be older than what is dropped next')
  t.strictSame(await drain(queue), [stop, { kind: 'overflow', epoch: 1, dropped: 2 }, starts[2], starts[3]])
  t.equal(listings, 1)
})

t.test('a disk that fails without end does not fill the memory: of a fault that is repeated the newest stays', async t => {
  const queue = new FactQueue({ capacity: 10, onOverflow: () => {} })
  const end = life('a', 'stopped')
  queue.push(end)
  for (let n = 0; n < 1000; n++) queue.push(event('io-error-reason', n % 2 === 0 ? 'a' : 'b', { n }))
  for (let n = 0; n < 1000; n++) queue.push({ kind: 'unreachable', reason: 'ConnectFailed', message: `${n}` })
  t.ok(queue.size <= 11, `${queue.size}`)
  const read = await drain(queue)
  t.equal(read[0], end)
  const errors = read.flatMap(fact => (fact.kind === 'event' && fact.event.kind === 'io-error-reason' ? [fact.event] : []))
  matchWhole(t, errors.slice(-2), [
    { domain: { uuid: 'a' }, n: 998 },
    { domain: { uuid: 'b' }, n: 999 }
  ])
  t.match(read.at(-1), { kind: 'unreachable', message: '999' })
})

t.test('whatever comes: order is kept, ends are kept, the bound holds as long as something may go', async () => {
  const facts = fc.array(fc.tuple(fc.constantFrom('started', 'stopped', 'resumed', 'suspended'), fc.constantFrom('a', 'b', 'c')))
  await fc.assert(
    fc.asyncProperty(facts, fc.integer({ min: 1, max: 8 }), async (told, capacity) => {
      const queue = new FactQueue({ capacity, onOverflow: () => {} })
      const all = told.map(([what, of]) => life(of, what))
      const ends = all.filter(fact => !isCoalescable(fact))
      for (const fact of all) {
        queue.push(fact)
        if (queue.size > Math.max(capacity, ends.length) + 1) return false
      }
      const read = await drain(queue)
      const kept = read.filter(({ kind }) => kind !== 'overflow')
      const dropped = read.reduce((sum, fact) => sum + (fact.kind === 'overflow' ? fact.dropped : 0), 0)
      const order = kept.map(fact => all.indexOf(fact))
      return (
        ends.every(fact => kept.includes(fact)) &&
        dropped + kept.length === all.length &&
        order.every((at, n) => n === 0 || at > (order[n - 1] ?? 0))
      )
    }),
    { numRuns: 500 }
  )
})

t.test('NA-13: each report names the one before it, heartbeats between them or not', async t => {
  const sent: Array<{ sequence?: string | undefined; data: any }> = []
  const take = async (event: any) => void sent.push(event)
  const reserved: number[] = []
  const { tell, beat } = sender({
    host: 'h',
    spool: { put: take },
    emit: take,
    first: 41,
    reserve: upTo => void reserved.push(upTo)
  })
  const report = fullReport(new Map(), { host: 'h', bootId: 'b', epoch: 1, at: '2026-11-16T12:00:00Z' })
  const { chain: _, supersedes: __, ...heart } = report
  await tell(report, 1)
  await beat(heart, 1)
  await tell(report, 1)
  t.strictSame(
    sent.map(({ sequence, data }) => [Number(sequence), data.after && Number(data.after)]),
    [
      [42, undefined],
      [43, undefined],
      [44, 42]
    ]
  )
  t.strictSame(reserved, [10_042], 'once for many numbers')
})
