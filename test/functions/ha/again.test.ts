// Every row of ha.md §2 that is about a server, on the function as it runs: what is told comes twice, late and out of order to two processes that
// die between note and call. The end is that of a quiet day, and no server is restarted twice.
import t, { type Test } from 'tap'
import type { Engine } from '../../../functions/ha/engine.ts'
import { isOver } from '../../../functions/ha/incident.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { lab, type Lab } from './lab.ts'
import { mortalKube, pass, random, untilTold } from './mortal.ts'
import { table, toldOf, type Row } from './table.ts'

t.setTimeout(600_000) // of the whole file: that of a test ends no later than that of its file

const rows = table.filter(({ early }) => !early)
const hosts = rows.map((_, n) => `hv${n}`)
const policy = 'mode: drover'

interface Told {
  host: string
  event: ReturnType<typeof toldOf>[number]
  /** when it is delivered, after it happened */
  lateMs: number
}

/** How the agent shows the domain of the row from now on. */
async function agentWrites(it: Lab, host: string, { after, control }: Pick<Row, 'after' | 'control'>): Promise<void> {
  const at = new Date(it.clock.now()).toISOString()
  const [id = ''] = it.servers(host)
  const before = (await it.admin.find(Hypervisor, host))?.status?.instances?.[0]
  const { state, since } = after === undefined ? { state: 'running', since: before?.since ?? at } : { state: after, since: at }
  const details = control === 'error' ? 'monitor' : 'none'
  const one = { id, name: 'instance', active: state !== 'off', state, since }
  const instances = after === 'gone' ? [] : [{ ...one, ...(control && { control: { state: control, details, checkedAt: at } }) }]
  const agent = { bootId: 'boot-1' }
  await it.admin.applyStatus(Hypervisor, { metadata: { name: host }, status: { instances, numInstances: 1, agent } })
}

/** Nova has restarted it: its domain runs. */
async function restartedOnesRun(it: Lab, up: Set<string>): Promise<void> {
  for (const [n, host] of hosts.entries()) {
    const [server = ''] = it.servers(host)
    if (up.has(server) || !it.restarts().includes(server)) continue
    up.add(server)
    await agentWrites(it, host, { ...rows[n], after: 'running' })
  }
}

const nextAt = async (it: Lab): Promise<number> => {
  const all = (await it.admin.list(Hypervisor)).items.map(({ status }) => Date.parse(status?.ha?.nextCheckAt ?? ''))
  return Math.min(...all.filter(at => !Number.isNaN(at)))
}

/** The last end that each server had, as soon as nothing more is to come. */
async function ends(it: Lab, engines: readonly Engine[], deliveries: readonly Told[], which: () => Engine): Promise<string[]> {
  const atMs = it.clock.now()
  const waiting = deliveries.toSorted((a, b) => a.lateMs - b.lateMs)
  const ended = new Map<string, string>()
  const up = new Set<string>()
  for (let looks = 0; looks < 500; looks++) {
    const now = it.clock.now() - atMs
    const due = waiting.splice(0, waiting.filter(({ lateMs }) => lateMs <= now).length)
    await Promise.all(
      due.map(({ host, event: [kind, data, afterMs] }) =>
        untilTold(() => it.tell(which(), host, kind, { server: it.servers(host)[0], ...data }, atMs + afterMs))
      )
    )
    await pass(it, engines, 1, 1)
    await restartedOnesRun(it, up)
    for (const { metadata, status } of (await it.admin.list(Hypervisor)).items)
      for (const incident of status?.ha?.incidents ?? []) if (isOver(incident)) ended.set(metadata.name, incident.state)
    const next = Math.min((await nextAt(it)) - it.clock.now(), (waiting[0]?.lateMs ?? Infinity) + atMs - it.clock.now())
    if (next === Infinity) break
    if (next > 1000) it.clock.advance(next - 1000)
  }
  const signals = async (host: string): Promise<string> =>
    ((await it.ha(host)).signals ?? []).map(({ kind, count, effect }) => `${kind} ${count} ${effect}`).join()
  return Promise.all(
    hosts.map(async (host, n) => {
      const restarts = it.restarts().filter(server => it.servers(host).includes(server)).length
      const { status } = it.fake.host(host)
      return `${rows[n]?.name}: ${ended.get(host) ?? 'nothing'}, restarted ${restarts}, ${status} ${await signals(host)}`.trim()
    })
  )
}

async function scene(t: Test): Promise<Lab> {
  const it = await lab(t, hosts, 1)
  it.clock.advance(60_000)
  for (const [n, row] of rows.entries()) {
    const host = hosts[n] ?? ''
    await agentWrites(it, host, row)
    const instance = it.fake.world.instances.get(it.servers(host)[0] ?? '')
    if (instance && row.task !== undefined) instance.taskState = row.task
  }
  return it
}

const all = rows.flatMap((row, n) => toldOf(row).map(event => ({ host: hosts[n] ?? '', event })))

const expected: Readonly<Record<string, string>> = {
  Recorded: 'Closed',
  Runs: 'Closed',
  Managed: 'Closed',
  OutOfBand: 'Reported',
  NotConfirmed: 'Reported',
  Reported: 'Reported',
  Blocked: 'Blocked'
}

let quiet: string[] = []

t.test('on a quiet day: each ends as its row says', async t => {
  const it = await scene(t)
  const engine = await it.process(policy)
  const told = all.map(({ host, event }) => ({ host, event, lateMs: Math.max(0, event[2]) }))
  quiet = await ends(it, [engine], told, () => engine)
  for (const [n, { ends, calls }] of rows.entries()) {
    if (ends !== undefined) t.match(quiet[n], `: ${expected[ends]}, restarted 0, enabled`)
    if (calls.length > 0) t.match(quiet[n], ': Recovered, restarted 1, enabled')
  }
})

for (const seed of [1, 2])
  t.test(`twice, late, out of order, killed between note and call, seed ${seed}`, async t => {
    const chance = random(seed)
    const it = await scene(t)
    const mortal = mortalKube(() => chance() < 0.2)
    const engines = [await it.process(policy, mortal), await it.process(policy, mortal)] as const
    const deliveries = all.flatMap(({ host, event }) => {
      const lateMs = chance() < 0.5 ? chance() * 2000 : chance() * 40_000
      return [
        { host, event, lateMs },
        { host, event, lateMs: lateMs + chance() * 60_000 }
      ]
    })
    const found = await ends(it, engines, deliveries, () => engines[chance() < 0.5 ? 0 : 1])
    for (const [n, end] of found.entries()) t.equal(end, quiet[n])
  })
