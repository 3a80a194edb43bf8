import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { type Client, column, insert, open, update, uuid } from 'ovsdb-client'
import { type OvsdbServer, prepare, startOvsdb, testSchema } from '../servers/ovs.ts'
import { closing } from './lib/closing.ts'
import { atLeast, atMost, type Figures, type Report } from './lib/figures.ts'
import { alternate } from './lib/statistics.ts'

// A copy of one table in a process of its own: first the whole table, then updates. The peer is Open vSwitch's own Python
// library with its JSON parser in C. Compared is the processor time of the copying process: what the server does is the same for both.
const against = "Open vSwitch's own Python library"
export const figures: Figures = {
  'ovsdb.snapshot': { unit: 'rows/ms of CPU', against, goal: atLeast(3) },
  'ovsdb.updates': { unit: 'rows/ms of CPU', against, goal: atLeast(3) },
  'ovsdb.reconnect': { unit: 'ms', of: 'max', goal: atMost(1000), note: 'server accepts again until a whole copy is there' }
}

const rows = 20_000
const updates = 10_000
const restarts = 10
const columns = ['name', 'count', 'big', 'note', 'tags', 'labels', 'counters']

/** Milliseconds of processor time. */
type Costs = { snapshot: number; updates: number }

const here = join(import.meta.dirname, 'ovsdb')
const ours = ({ unix }: OvsdbServer) => [
  process.execPath,
  '--conditions=drover',
  join(here, 'consumer.ts'),
  unix,
  String(rows),
  String(updates)
]
const python = ({ unix }: OvsdbServer) => [
  '/usr/bin/python3',
  join(here, 'consumer.py'),
  unix,
  testSchema,
  columns.join(),
  String(rows),
  String(updates)
]

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const prepared = await prepare()
    if (!prepared.ok) throw new Error(prepared.reason)
    const server = await startOvsdb(t)
    const writer = open({ remotes: [server.unix], database: 'Test' })
    t.teardown(() => writer.close())
    const uuids = await fill(writer)
    const change = (): Promise<void> => touch(writer, uuids)
    const costs = await alternate(report.rounds(3), {
      ours: () => consume(ours(server), change),
      peer: () => consume(python(server), change)
    })
    for (const [part, count] of [
      ['snapshot', rows],
      ['updates', updates]
    ] as const) {
      const speeds = (list: Costs[]) => list.map(cost => count / cost[part])
      report(`ovsdb.${part}`, speeds(costs.ours), { peer: speeds(costs.peer) })
    }
    report('ovsdb.reconnect', await reconnects(await startOvsdb(t)))
  })

/** Milliseconds of each restart: from the moment the server accepts again to a whole copy of the table. */
async function reconnects(server: OvsdbServer): Promise<number[]> {
  const db = open({ remotes: [server.unix], database: 'Test' })
  const monitor = db.monitor({ Item: { name: column.string } })
  const times: number[] = []
  for (let round = 0; round < restarts; round++) {
    await monitor.waitFor(() => true)
    await server.stop()
    await server.start()
    const accepted = performance.now()
    await monitor.waitFor(() => monitor.history.snapshots > round + 1)
    times.push(performance.now() - accepted)
  }
  await db.close()
  return times
}

async function fill(writer: Client): Promise<string[]> {
  const batch = 1000
  const uuids: string[] = []
  while (uuids.length < rows) {
    const results = await writer.transact(Array.from({ length: batch }, (_, at) => insert('Item', item(uuids.length + at))))
    uuids.push(...results.map(result => result.uuid))
  }
  return uuids
}

const item = (at: number) => ({
  name: `port-${at}`,
  count: at,
  big: 2n ** 40n + BigInt(at),
  note: `the port number ${at}`,
  tags: ['vm', `rack-${at % 40}`],
  labels: { 'iface-id': `lsp-${at}`, 'attached-mac': `52:54:00:00:00:${at % 100}`, 'vm-id': `vm-${at}` },
  counters: { rx_bytes: at * 1000, tx_bytes: at * 2000, rx_packets: at, tx_packets: at }
})

async function consume([command, ...args]: string[], change: () => Promise<void>): Promise<Costs> {
  const child = spawn(command as string, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const cost = async () => Number((await lines.next()).value)
  const snapshot = await cost()
  const updated = cost()
  await change()
  const result = { snapshot, updates: await updated }
  await exit
  return result
}

/** As ovs-vswitchd refreshes its statistics: many interfaces in one transaction. */
async function touch(writer: Client, uuids: readonly string[]): Promise<void> {
  const batch = 200
  const stamp = Date.now() % 1_000_000
  const change = (id: string, at: number) =>
    update('Item', [['_uuid', '==', uuid(id)]], { big: BigInt(stamp), counters: { rx_bytes: stamp, tx_bytes: at } })
  for (let first = 0; first < updates; first += batch) {
    await writer.transact(uuids.slice(first, first + batch).map(change))
  }
}
