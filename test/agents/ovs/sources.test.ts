// What is asked of vswitchd and of the kernel, and what is made of the answers; without a switch.
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { flowFaults } from '../../../agents/ovs/flows.ts'
import { modelOf } from '../../../agents/ovs/model.ts'
import { type Fact, nothingYet } from '../../../agents/ovs/observed.ts'
import { kernelBonds } from '../../../agents/ovs/sources/kernel-bonds.ts'
import { flowCounts } from '../../../agents/ovs/sources/flow-counts.ts'
import { tables } from './tables.ts'

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
