import type { Registry } from 'prom-client'
import type { Kind, KubeObject } from '../schema/kind.ts'
import type { Applied, ApplyOptions } from './apply.ts'
import { apply } from './apply.ts'
import type { Happening, Subject } from './events.ts'
import { tell } from './events.ts'
import type { Reference } from './path.ts'
import type { Listed, ListOptions } from './read.ts'
import { find, list, pages } from './read.ts'
import { KubeError } from './errors.ts'
import type { Pace } from './retry.ts'
import { reads, realPace } from './retry.ts'
import type { Access, User } from './reviews.ts'
import { reviewAccess, reviewToken } from './reviews.ts'
import type { CallInfo, Log } from './transport.ts'
import { createTransport } from './transport.ts'
import type { Seen, WatchOptions } from './watch.ts'
import { watch } from './watch.ts'
import type { DeleteOptions, JsonPatchOp, Precondition } from './write.ts'
import { create, patch, remove } from './write.ts'

export interface ConnectOptions {
  /** Field manager of every write, and user agent: one for each function and agent (HV-5). */
  manager: string
  /** A file; without it the pod's service account, then client-node's defaults. */
  kubeconfig?: string | undefined
  /** For a whole call, its retries included. */
  timeoutMs?: number | undefined
  /** A watch that says nothing for so long is taken for dead. Bookmarks come about every minute. */
  idleMs?: number | undefined
  log?: Log | undefined
  /** Where the calls are counted and measured. */
  metrics?: Registry | undefined
  onCall?: ((call: CallInfo) => void) | undefined
  pace?: Pace | undefined
}

export interface Kube {
  find<T extends KubeObject>(kind: Kind<T>, name: string, namespace?: string): Promise<T | undefined>
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<Listed<T>>
  pages<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): AsyncGenerator<T[]>
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions): AsyncGenerator<Seen<T>>
  create<T extends KubeObject>(kind: Kind<T>, object: Applied<T>): Promise<T>
  apply<T extends KubeObject>(kind: Kind<T>, object: Applied<T>, options?: ApplyOptions<T>): Promise<T>
  applyStatus<T extends KubeObject>(kind: Kind<T>, object: Applied<T>, options?: ApplyOptions<T>): Promise<T>
  patch<T extends KubeObject>(
    kind: Kind<T>,
    ref: Reference,
    body: object | JsonPatchOp[],
    options?: { subresource?: string }
  ): Promise<T>
  delete(kind: Kind, ref: Reference & Precondition, options?: DeleteOptions): Promise<boolean>
  event(about: Subject, happening: Happening): Promise<void>
  reviewToken(token: string, audiences?: string[]): Promise<{ authenticated: boolean; user?: User }>
  reviewAccess(user: User, access: Access): Promise<{ allowed: boolean; reason?: string }>
  health(): Promise<void>
  close(): void
}

export async function connect(options: ConnectOptions): Promise<Kube> {
  const { manager, kubeconfig, timeoutMs = 10_000, idleMs = 90_000, log, metrics, pace = realPace } = options
  // only here: client-node is large, and whoever needs just a type, a kind or an error should not wait for it
  const { loadCredentials } = await import('./credentials.ts')
  const credentials = await loadCredentials(kubeconfig)
  const onCall = options.onCall ?? (metrics && (await import('./metrics.ts')).kubeMetrics(metrics))
  const transport = createTransport({ credentials, userAgent: manager, timeoutMs, pace, log, onCall })
  return {
    find: (kind, name, namespace) => find(transport, kind, name, namespace),
    list: (kind, options = {}) => list(transport, kind, options),
    pages: (kind, options = {}) => pages(transport, kind, options),
    watch: (kind, options) => watch(transport, kind, options, idleMs),
    create: (kind, object) => create(transport, manager, kind, object as KubeObject),
    apply: (kind, object, options = {}) => apply(transport, manager, kind, object as KubeObject, options),
    applyStatus: (kind, object, options = {}) =>
      apply(transport, manager, kind, statusOf(object as KubeObject), options, 'status'),
    patch: (kind, ref, body, { subresource } = {}) => patch(transport, manager, kind, ref, body, subresource),
    delete: (kind, ref, options) => remove(transport, kind, ref, options),
    event: (about, happening) => tell(transport, manager, about, happening, new Date()),
    reviewToken: (token, audiences) => reviewToken(transport, token, audiences),
    reviewAccess: (user, access) => reviewAccess(transport, user, access),
    async health() {
      const answer = await transport.text({ verb: 'health', kind: '', method: 'GET', path: '/readyz' }, { ...reads, tries: 1 })
      if (answer !== 'ok') throw new KubeError('Malformed', 'something other than an API server answers')
    },
    close: () => transport.close()
  }
}

/** The status alone: the server would drop the rest, and `unchanged` would wait for it. */
function statusOf(object: KubeObject & { status?: unknown }): KubeObject {
  const { name, namespace, resourceVersion } = object.metadata ?? {}
  const metadata = JSON.parse(JSON.stringify({ name, namespace, resourceVersion })) as NonNullable<KubeObject['metadata']>
  return Object.assign({ metadata }, { status: object.status })
}
