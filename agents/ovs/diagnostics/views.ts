// The read-only views (OV §7): the model, and texts that the daemons write for people.
import type { Daemons } from '../daemons.ts'
import type { Health } from '../findings.ts'
import type { Port } from '../model.ts'
import { portsOf } from '../model.ts'
import type { Observed } from '../observed.ts'
import { orphansOf } from '../orphans.ts'
import { type CommandOf, type Daemon, UnixctlError } from '../wire/unixctl.ts'
import { OpenFlowError } from '../wire/openflow-frames.ts'
import { ports as portStatistics } from '../wire/openflow-statistics.ts'
import { Refusal } from './refusal.ts'

export interface Sight {
  readonly daemons: Daemons
  readonly observed: () => Observed
  readonly health: () => Health | undefined
}

const maxTextBytes = 3.5 * 1024 * 1024 // a reply is 4 MiB at most (OV-59)

export interface Text {
  text: string
  truncated?: true
}

export const cut = (text: string, maxBytes: number = maxTextBytes): Text =>
  text.length > maxBytes ? { text: text.slice(0, maxBytes), truncated: true } : { text }

export function known(sight: Sight): Health {
  const health = sight.health()
  if (!health) throw new Refusal(503, 'the database of the switch is not known at the moment')
  return health
}

/** The daemon's words, or the refusal that fits its silence. */
export async function tell<D extends Daemon>(
  sight: Sight,
  daemon: D,
  command: CommandOf<D>,
  args: readonly string[] = []
): Promise<string> {
  try {
    return await sight.daemons.ask(daemon, command, args)
  } catch (error) {
    if (!(error instanceof UnixctlError)) throw error
    if (error.code === 'timeout') throw new Refusal(504, `${daemon} did not answer in time`)
    if (error.code === 'rejected') throw new Refusal(502, error.message)
    throw new Refusal(error.code === 'too-large' ? 413 : 503, `${daemon}: ${error.message}`)
  }
}

/** Several texts at once. One that this version of the daemon does not have is not asked for (OV-20); the reason is in its place. */
async function texts<D extends Daemon>(
  sight: Sight,
  daemon: D,
  commands: ReadonlyArray<CommandOf<D>>,
  args: readonly string[] = []
) {
  const listed = await tell(sight, daemon, 'list-commands' as CommandOf<D>)
  const known = new Set(listed.split('\n').map(line => line.trim().split(' ')[0]))
  const told = commands.map(async command => {
    if (!known.has(command)) return [command, { error: `this ${daemon} has no ${command}` }] as const
    const answer = await tell(sight, daemon, command, args).then(
      text => cut(text, maxTextBytes / commands.length),
      (error: unknown) => {
        if (error instanceof Refusal && error.status === 502) return { error: error.message }
        throw error
      }
    )
    return [command, answer] as const
  })
  return Object.fromEntries(await Promise.all(told))
}

export function findBridge(sight: Sight, name: string) {
  const bridge = known(sight).model.bridges.find(known => known.name === name)
  if (!bridge) throw new Refusal(404, `there is no bridge ${name}`)
  return bridge
}

export function findPort(sight: Sight, name: string): Port {
  const port = portsOf(known(sight).model).find(known => known.name === name || known.interfaces.some(row => row.name === name))
  if (!port) throw new Refusal(404, `there is no port ${name}`)
  return port
}

/** Maps and sets as JSON has them. */
export const plain = (_key: string, value: unknown): unknown => {
  if (value instanceof Map) return Object.fromEntries(value as Map<string, unknown>)
  if (value instanceof Set) return [...(value as Set<unknown>)]
  return typeof value === 'bigint' ? String(value) : value
}

export const listBridges = async (sight: Sight) => ({
  bridges: known(sight).bridges.map(({ name, status, reason, optional, row }) => ({
    name,
    status,
    reason,
    optional,
    ports: row?.ports.length,
    flows: sight.observed().flows.get(name)?.total
  }))
})

export async function showBridge(sight: Sight, name: string) {
  const { ports, ...bridge } = findBridge(sight, name)
  const counters = await sight.daemons.statistics(name, [portStatistics]).catch((error: unknown) => {
    if (error instanceof OpenFlowError) return [[]] as const
    throw error
  })
  return {
    bridge,
    ports: ports.map(({ name: port, interfaces }) => ({ port, interfaces: interfaces.map(row => row.name) })),
    statistics: counters[0],
    fdb: cut(await tell(sight, 'ovs-vswitchd', 'fdb/show', [name]))
  }
}

export async function showFlows(sight: Sight, name: string, query: URLSearchParams) {
  findBridge(sight, name)
  const limit = whole(query.get('limit') ?? '1000', 'limit', 1, 5000)
  const table = query.get('table') === null ? undefined : whole(query.get('table') ?? '', 'table', 0, 254)
  const lines = (await tell(sight, 'ovs-vswitchd', 'bridge/dump-flows', [name])).split('\n').filter(line => line.trim() !== '')
  // a flow of table 0 does not name its table
  const wanted = lines.filter(
    line => table === undefined || Number(/\btable_id=(\d+)|\btable=(\d+)/.exec(line)?.slice(1).find(Boolean) ?? 0) === table
  )
  const shown = cut(wanted.slice(0, limit).join('\n'))
  return {
    flows: shown.text.split('\n').filter(Boolean),
    total: wanted.length,
    truncated: wanted.length > limit || shown.truncated === true
  }
}

function whole(text: string, what: string, least: number, most: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new Refusal(400, `${what} must be a number from ${least} to ${most}`)
  return value
}

export async function showPort(sight: Sight, name: string) {
  const port = findPort(sight, name)
  const { statistics } = sight.observed()
  const orphan = orphansOf(known(sight).model, sight.observed()).find(found => found.port === port.name)
  return {
    port,
    statistics: port.interfaces.map(row => ({ name: row.name, counters: statistics?.get(row.name) })),
    orphan: orphan ?? null
  }
}

export async function showBond(sight: Sight, name: string) {
  const bond = known(sight).bonds.find(found => found.name === name)
  if (!bond) throw new Refusal(404, `there is no bond ${name}`)
  if (bond.kind === 'kernel') return { bond, kernel: sight.observed().kernelBonds?.get(name) ?? null }
  return { bond, ...(await texts(sight, 'ovs-vswitchd', ['bond/show', 'lacp/show', 'lacp/show-stats'], [name])) }
}

export const showDatapath = (sight: Sight) =>
  texts(sight, 'ovs-vswitchd', [
    'dpif/show',
    'dpctl/show',
    'upcall/show',
    'coverage/show',
    'memory/show',
    'ofproto/list-tunnels',
    'dpif-netdev/pmd-rxq-show',
    'dpif-netdev/pmd-perf-show'
  ])

export const showOvn = (sight: Sight) =>
  texts(sight, 'ovn-controller', [
    'connection-status',
    'ct-zone-list',
    'inc-engine/show-stats',
    'lflow-cache/show-stats',
    'debug/status'
  ])
