import { type Kube } from '../../shared/kube/index.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import { apiVersion } from '../../shared/schema/kind.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'

export interface Notice {
  readonly reason: string
  readonly note: string
  readonly type: 'Normal' | 'Warning'
  readonly action: string
}

const mostWaiting = 100

/** Kubernetes Events on the OVSNode, one after the other. They are for people: when the API server is away for long, the oldest are left out. */
export class Announcer {
  readonly #kube: Kube
  readonly #subject: () => OVSNode | undefined
  readonly #log: Logger
  readonly #waiting: Notice[] = []
  #telling = false

  constructor(kube: Kube, subject: () => OVSNode | undefined, log: Logger) {
    this.#kube = kube
    this.#subject = subject
    this.#log = log
  }

  say(notice: Notice): void {
    this.#waiting.push(notice)
    if (this.#waiting.length > mostWaiting) this.#waiting.shift()
    if (!this.#telling) void this.#tell()
  }

  async #tell(): Promise<void> {
    this.#telling = true
    for (let notice = this.#waiting.shift(); notice; notice = this.#waiting.shift()) {
      const stored = this.#subject()
      if (!stored) continue // nothing to hang it on: the issue itself is in the status
      try {
        await this.#kube.event({ ...stored, apiVersion: apiVersion(OVSNode), kind: OVSNode.kind }, notice)
      } catch (err) {
        this.#log.warn({ err, reason: notice.reason }, 'an Event of Kubernetes was not taken')
      }
    }
    this.#telling = false
  }
}
