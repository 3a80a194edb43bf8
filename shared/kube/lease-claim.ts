import type { Kube } from './connect.ts'
import { Lease } from './kinds.ts'
import { microTime } from './micro-time.ts'

export interface Claim {
  name: string
  namespace: string
  /** Of this process alone: the pod's name. */
  identity: string
  /** How long the others wait after the last renewal that they saw. Whole seconds count. */
  durationMs: number
  now: () => Date
  /** Milliseconds that no clock setting touches. */
  elapsed: () => number
}

export interface Claimant {
  /** Takes or renews the lease if it may be had: whether it is ours now. */
  claim: () => Promise<boolean>
  release: () => Promise<void>
}

/**
 * No clocks are compared: a contender waits for the whole duration after the last change that it saw itself. Every write names the version that it
 * replaces, so of two only one succeeds.
 */
export function claimant(kube: Kube, { name, namespace, identity, durationMs, now, elapsed }: Claim): Claimant {
  const ref = { name, namespace }
  let seen: { version: string | undefined; at: number } | undefined

  const isOver = ({ metadata, spec }: Lease): boolean => {
    if (!seen || seen.version !== metadata?.resourceVersion) seen = { version: metadata?.resourceVersion, at: elapsed() }
    return elapsed() - seen.at >= (spec?.leaseDurationSeconds ?? 0) * 1000
  }
  const renewed = () => ({
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    renewTime: microTime(now())
  })
  const taken = (transitions: number) => ({ ...renewed(), acquireTime: microTime(now()), leaseTransitions: transitions })
  const write = (resourceVersion: string | undefined, spec: object) =>
    kube.patch(Lease, ref, { metadata: { resourceVersion }, spec })

  return {
    async claim() {
      const lease = await kube.find(Lease, name, namespace)
      if (!lease) {
        await kube.create(Lease, { metadata: ref, spec: taken(0) })
        return true
      }
      const { holderIdentity: holder, leaseTransitions = 0 } = lease.spec ?? {}
      const over = isOver(lease)
      if (holder && holder !== identity && !over) return false
      await write(lease.metadata?.resourceVersion, holder === identity ? renewed() : taken(leaseTransitions + 1))
      return true
    },
    async release() {
      const lease = await kube.find(Lease, name, namespace)
      if (lease?.spec?.holderIdentity !== identity) return
      await write(lease.metadata?.resourceVersion, { holderIdentity: '', renewTime: microTime(now()) })
    }
  }
}
