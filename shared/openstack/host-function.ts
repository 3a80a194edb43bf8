// What all functions that look after hosts in OpenStack have in common: one pass for one Hypervisor, by an event or by a tick.
import { Type } from 'typebox'
import { tick } from '../events/knative.ts'
import { hypervisorChanged } from '../events/objects.ts'
import type { Kube } from '../kube/connect.ts'
import type { KeptList } from '../kube/kept-list.ts'
import { hostOutline } from '../kube/outline.ts'
import { Duration } from '../runtime/config.ts'
import { keyLock, type KeyLock } from '../runtime/key-lock.ts'
import { settleAll } from '../runtime/settle-all.ts'
import { on, type Call, type Change, type Platform, type Reaction, type Received } from '../runtime/function.ts'
import { Hypervisor } from '../schema/hypervisor.ts'
import { OpenStackConfig, openStackFields } from './config.ts'
import type { Cloud } from './connect.ts'
import { createListings, type Listings } from './listings.ts'
import { driftMetric } from './metrics.ts'
import { requestIdOf } from './request-id.ts'

export const hostFields = {
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  observe: Type.Boolean({ default: false, description: 'record what would be done and write nothing but status (HV-8)' }),
  listingAge: Duration({ default: '10s', description: 'for so long one listing serves all hosts (AG-2)' }),
  ...openStackFields
}

export interface HostDeps extends Pick<Platform, 'clock' | 'log'> {
  kube: Kube
  /** For the fast tick: what it needs to see whether a host is due. */
  hosts: KeptList<Hypervisor>
  cloud: Cloud
  listings: Listings
  /** HV-4: whether the installed CRD knows Drover's own fields. */
  extended: boolean
  observe: boolean
  countDrift: (kind: string, action: string) => void
  /** One pass for a host at a time, be it by an event or by a tick: who writes after another must have seen what that one wrote. */
  inTurn: KeyLock
}

export type HostConfig = OpenStackConfig & { kubeconfig?: string; observe: boolean; listingAge: number }

export async function openHostDeps(manager: string, config: HostConfig, platform: Platform): Promise<HostDeps> {
  const { clock, log, metrics, onClose, signal } = platform
  // after the port is open: half of a cold start is loading these
  const [{ connect }, { keepList }, { isExtended }, { openCloud, tellUnsupported }] = await Promise.all([
    import('../kube/connect.ts'),
    import('../kube/kept-list.ts'),
    import('../kube/extended.ts'),
    import('./connect.ts')
  ])
  const kube = await connect({ manager, log, metrics, ...(config.kubeconfig !== undefined && { kubeconfig: config.kubeconfig }) })
  onClose(() => kube.close())
  const cloud = await openCloud(config, platform, manager)
  void tellUnsupported(cloud, log)
  const extended = await isExtended(kube, log)
  const listings = createListings(cloud, { now: () => clock().getTime(), maxAgeMs: config.listingAge })
  const countDrift = driftMetric(metrics, manager)
  const inTurn = keyLock({ maxWaiting: Infinity }) // events are counted where they come in
  const hosts = keepList(kube, Hypervisor, { signal, log, trim: hostOutline })
  return { kube, hosts, cloud, listings, extended, observe: config.observe, countDrift, inTurn, clock, log }
}

export { isObserved, observeAnnotation } from '../kube/observe.ts'

export interface HostFunction<Deps> {
  /** An event that changed nothing of this is not looked at. */
  changed: readonly Change[]
  /** look → decide → act → reflect for one host; throws only what could not be written down. */
  settle(hypervisor: Hypervisor, deps: Deps): Promise<void>
  /** Whether time alone may move this host on: the fast tick looks at these. */
  isOpen(hypervisor: Hypervisor, deps: Deps): boolean
  /** Which of all hosts the slow tick must look at one by one; without it all of them. */
  differing?(hypervisors: readonly Hypervisor[], deps: Deps): Promise<readonly Hypervisor[]>
}

export function hostReactions<Deps extends HostDeps>(fn: HostFunction<Deps>): Reaction<Deps>[] {
  return [
    on(hypervisorChanged, { key: hostOf, changed: fn.changed }, (event, opened: Deps, call) =>
      settleNow(fn, hostOf(event), onBehalfOf(call, opened))
    ),
    on(tick, { key: () => 'tick' }, async ({ data }, opened: Deps, call) => {
      const deps = onBehalfOf(call, opened)
      if (data.tick === 'fast') {
        const open = (await deps.hosts.all()).map(whole).filter(hypervisor => fn.isOpen(hypervisor, deps))
        return settleAll(open, ({ metadata }) => settleNow(fn, metadata.name, deps))
      }
      const all = (await deps.kube.list(Hypervisor)).items.map(whole)
      const open = all.filter(hypervisor => fn.isOpen(hypervisor, deps))
      const due = fn.differing ? await fn.differing(all, deps) : all
      // those under way may have come further since they were listed: with many hosts that is seconds ago
      const moving = new Set(open)
      await settleAll(due, host => {
        const { name } = host.metadata
        return moving.has(host) ? settleNow(fn, name, deps) : deps.inTurn(name, () => fn.settle(host, deps))
      })
    })
  ]
}

/** As the host is when its turn has come. */
export function settleNow<Deps extends HostDeps>(
  fn: Pick<HostFunction<Deps>, 'settle'>,
  name: string,
  deps: Deps
): Promise<void> {
  return deps.inTurn(name, async () => {
    const hypervisor = await deps.kube.find(Hypervisor, name)
    if (hypervisor) await fn.settle(whole(hypervisor), deps)
  })
}

/** Whether what is about to be done is still asked for: a tick looks at many hosts of one listing, and somebody may have changed this one since. */
export async function isStillAsked({ metadata }: Hypervisor, { kube }: Pick<HostDeps, 'kube'>): Promise<boolean> {
  const now = await kube.find(Hypervisor, metadata.name)
  return now?.metadata.uid === metadata.uid && now?.metadata.generation === metadata.generation
}

/** HV-67: OpenStack's services log the event's trace, and so do we. Shared listings are asked for on nobody's behalf. */
export function onBehalfOf<Deps extends HostDeps & { testCloud?: Cloud }>({ traceparent, log }: Call, deps: Deps): Deps {
  const context = requestIdOf(traceparent)
  const bound = (cloud: Cloud): Cloud => (context.globalRequestId === undefined ? cloud : { ...cloud, ...cloud.with(context) })
  return { ...deps, log, cloud: bound(deps.cloud), ...(deps.testCloud && { testCloud: bound(deps.testCloud) }) }
}

export const hostOf = ({ partitionkey, data }: Received<{ name: string }>): string => partitionkey ?? data.name

/** The CRD in use takes an object without a spec, whatever the type says; then everything in it is unset. */
export const whole = (hypervisor: Hypervisor): Hypervisor => ({ ...hypervisor, spec: hypervisor.spec ?? {} })

export { settleAll } from '../runtime/settle-all.ts'
