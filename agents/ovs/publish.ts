// Writes the OVSNode: at once when something changed, at most one write a second (a burst of five), and with every heartbeat (OV-2, OV-52).
import { type Kube, KubeError, Node } from '../../shared/kube/index.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import { quietly } from './inbox.ts'
import type { Status } from './to-status.ts'

export interface PublisherOptions {
  readonly kube: Kube
  readonly node: string
  readonly namespace: string
  readonly log: Logger
  readonly signal: AbortSignal
  readonly onWritten: (status: Status) => void
}

const burst = 5
const perWriteMs = 1000
const retryMs = 2000

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }
/** OV-4: a counter beyond 2^53 leaves with all its digits. */
function exact({ metrics, ...status }: Status): Status {
  if (!metrics) return status
  const digits = Object.entries(metrics).map(([name, count]) => [name, rawJSON(String(count))])
  return { ...status, metrics: Object.fromEntries(digits) }
}
/** What is worth a write at once: counters and counts of flows change all the time and go with the heartbeat (OV-52). */
function printOf({ observedAt: _observed, metrics: _metrics, flowStats: _flowStats, bridges, ...rest }: Status): string {
  return JSON.stringify({ ...rest, bridges: bridges?.map(({ flows: _flows, ...bridge }) => bridge) })
}

export class Publisher {
  readonly #options: PublisherOptions
  #wanted: Status | undefined
  #written = ''
  #bell = Promise.withResolvers<void>()
  #made = false
  #tokens = burst
  #refilledAt = performance.now()

  constructor(options: PublisherOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#bell.resolve(), { once: true })
  }

  /** Only the newest is ever written. */
  offer(status: Status, heartbeat: boolean): void {
    if (!heartbeat && this.#wanted === undefined && printOf(status) === this.#written) return
    this.#wanted = status
    this.#bell.resolve()
  }

  /** Somebody deleted the object, or wrote into what is ours: the next offer is written whatever it says. */
  disturbed(gone: boolean): void {
    this.#written = ''
    if (gone) this.#made = false
  }

  async run(): Promise<void> {
    const { signal, log } = this.#options
    while (!signal.aborted) {
      await this.#bell.promise
      this.#bell = Promise.withResolvers()
      await this.#token()
      const status = this.#wanted
      if (status === undefined || signal.aborted) continue
      this.#wanted = undefined
      try {
        await this.#write(status)
      } catch (err) {
        log.warn({ err }, 'the OVSNode could not be written')
        this.#wanted ??= status
        await quietly(retryMs, signal)
        this.#bell.resolve()
      }
    }
  }

  async #write(status: Status): Promise<void> {
    const { kube, node, namespace, onWritten } = this.#options
    if (!this.#made) await this.#make()
    const metadata = { name: node, namespace }
    try {
      await kube.applyStatus(OVSNode, { metadata, status: exact(status) })
    } catch (error) {
      if (error instanceof KubeError && error.code === 'NotFound') this.#made = false // deleted meanwhile: made again by the next try
      throw error
    }
    this.#written = printOf(status)
    onWritten(status)
  }

  /** OV-1: it goes with its Node. */
  async #make(): Promise<void> {
    const { kube, node, namespace } = this.#options
    const owner = await kube.find(Node, node)
    const uid = owner?.metadata?.uid
    const ownerReferences = uid === undefined ? [] : [{ apiVersion: 'v1', kind: 'Node', name: node, uid }]
    await kube.apply(OVSNode, {
      metadata: { name: node, namespace, ...(ownerReferences.length > 0 && { ownerReferences }) },
      spec: { nodeRef: { name: node } }
    })
    this.#made = true
  }

  async #token(): Promise<void> {
    const now = performance.now()
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#refilledAt) / perWriteMs)
    this.#refilledAt = now
    if (this.#tokens < 1) await quietly((1 - this.#tokens) * perWriteMs, this.#options.signal)
    this.#tokens -= 1
  }
}
