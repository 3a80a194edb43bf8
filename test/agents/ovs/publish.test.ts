// When the status is written, and when it waits; without a cluster.
import t from 'tap'
import { Publisher } from '../../../agents/ovs/publish.ts'
import type { Status } from '../../../agents/ovs/to-status.ts'
import type { Kube } from '../../../shared/kube/index.ts'
import { createLog } from '../../../shared/runtime/log.ts'
import { eventually } from '../../servers/eventually.ts'

const log = createLog({ name: 'test', level: 'silent' })

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
