// What the cluster knows: what people expect of this node (spec.expected), and which domains it has.
import { type Kube, KubeError } from '../../../shared/kube/index.ts'
import type { Kind, KubeObject } from '../../../shared/schema/kind.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { Migration } from '../../../shared/schema/migration.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import type { Logger } from '../../../shared/runtime/log.ts'
import { poll, quietly } from '../inbox.ts'
import { modelOf } from '../model.ts'
import type { Fact, Inventory, Observed } from '../observed.ts'
import { candidates } from '../orphans.ts'

export interface ClusterOptions {
  readonly kube: Kube
  readonly node: string
  readonly namespace: string
  readonly log: Logger
}

const refusedMs = 30_000

/** One object for ever; undefined when it is not there. A refusal (no right, no such kind yet) is tried again. */
async function* follow<T extends KubeObject>(
  { kube, log }: ClusterOptions,
  kind: Kind<T>,
  name: string,
  namespace: string | undefined,
  signal: AbortSignal
): AsyncGenerator<T | undefined> {
  while (!signal.aborted) {
    try {
      const options = { signal, fieldSelector: `metadata.name=${name}`, ...(namespace !== undefined && { namespace }) }
      for await (const seen of kube.watch(kind, options)) {
        if (seen.type === 'snapshot') yield seen.items[0]
        else yield seen.type === 'deleted' ? undefined : seen.object
      }
    } catch (err) {
      if (!(err instanceof KubeError)) throw err
      log.warn({ err, kind: kind.kind }, 'cannot be followed')
      await quietly(refusedMs, signal)
    }
  }
}

/** Its own object, as it is stored. */
export async function* followOwn(
  options: ClusterOptions,
  signal: AbortSignal,
  onStored: (stored: OVSNode | undefined) => void
): AsyncGenerator<Fact> {
  for await (const stored of follow(options, OVSNode, options.node, options.namespace, signal)) {
    onStored(stored)
    yield { expected: stored?.spec?.expected ?? {} }
  }
}

/** The node's Hypervisor; `onSeen` keeps the newest for the inventory. */
export async function* followHypervisor(
  options: ClusterOptions,
  signal: AbortSignal,
  onSeen: (seen: Hypervisor | undefined) => void
): AsyncGenerator<Fact> {
  for await (const seen of follow(options, Hypervisor, options.node, undefined, signal)) onSeen(seen)
  yield {}
}

export interface InventoryOptions extends ClusterOptions {
  readonly hypervisor: () => Hypervisor | undefined
  readonly current: () => Observed
  readonly now: () => number
  readonly everyMs: number
  readonly staleMs: number
  readonly migrationNamespace: string
}

/** Looked at again and again, since a list grows old by itself. */
export function inventory(options: InventoryOptions, signal: AbortSignal): AsyncGenerator<Fact> {
  return poll(
    () => options.everyMs,
    signal,
    async () => ({ inventory: await look(options) })
  )
}

async function look({
  hypervisor,
  current,
  now,
  staleMs,
  migrationNamespace,
  kube,
  log
}: InventoryOptions): Promise<Inventory | undefined> {
  const status = hypervisor()?.status
  if (!status?.instances) return undefined
  const domains = new Set(status.instances.map(({ id }) => id))
  const paused = status.instances.filter(({ state }) => state === 'paused').map(({ id }) => id)
  const heard = Date.parse(status.agent?.lastHeartbeat ?? '')
  const moving = new Set(paused)
  for (const id of strangers(current(), domains)) {
    const record = await kube.find(Migration, id, migrationNamespace).catch((err: unknown) => {
      log.warn({ err, id }, 'no answer whether a server is on the move')
      return undefined
    })
    if (record && record.status?.finishedAt === undefined) moving.add(id)
  }
  return { domains, moving, fresh: now() - heard < staleMs }
}

/** Ports of domains that are not on the list: only these are worth a question. */
function strangers({ tables }: Observed, domains: ReadonlySet<string>): string[] {
  if (!tables) return []
  const ids = candidates(modelOf(tables)).flatMap(({ row }) => row.external_ids.get('vm-id') ?? [])
  return [...new Set(ids)].filter(id => !domains.has(id)).slice(0, 20)
}
