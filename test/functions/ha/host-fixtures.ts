// A host whose network breaks and heals, and whose Nova and Kubernetes do what they are asked for; for the pure tests.
import type { FleetHost } from '../../../functions/ha/fleet.ts'
import type { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { condition } from '../host-life/fixtures.ts'
import { iso, serverId, startMs, type World } from './fixtures.ts'

export const s = 1000
export const at = iso(startMs)

export const ovs = (...issues: Array<[type: string, object: string]>): OVSNode => {
  const node: unknown = {
    metadata: { name: 'host-1' },
    spec: { nodeRef: { name: 'host-1' } },
    status: {
      conditions: [condition('Ready', issues.length > 0 ? 'False' : 'True', issues.length > 0 ? 'Bad' : 'AllHealthy')],
      issues: issues.map(([type, object]) => ({
        id: `${type}/${object}`,
        severity: 'Critical',
        type,
        object,
        message: `${type}.`,
        detectedAt: at
      }))
    }
  }
  return node as OVSNode
}

export const disabled = (reason: string) => ({ status: 'disabled' as const, disabledReason: reason })
const carriedOut = (it: World): World => {
  const last = it.steps.at(-1)?.calls ?? []
  for (const call of last) {
    if (call.do === 'disable') it.service = { ...it.service!, ...disabled(call.reason) }
    if (call.do === 'drain' && !it.eviction)
      it.eviction = {
        metadata: { name: call.name, uid: `uid of ${call.name}` },
        spec: { hypervisor: 'host-1', reason: call.reason }
      } as World['eviction']
    if (call.do === 'stop-drain' && call.over) it.eviction = undefined
    if (call.do === 'enable') it.service = { ...it.service!, status: 'enabled', disabledReason: null }
  }
  return it
}
/** looks every second, and what is asked of Nova is done */
export const run = (it: World, seconds: number): World => {
  for (const endMs = it.nowMs + seconds * s; it.nowMs <= endMs; it.nowMs += s) {
    it.look()
    carriedOut(it)
  }
  return it
}

export const first = (it: World, what: string): number | undefined => {
  const index = it.steps.findIndex(({ calls }) => calls.some(call => call.do === what))
  return index < 0 ? undefined : index
}

/** Faults of servers as the fleet counts them. */
export const fault = (kind: string, n: number, ageSeconds = 0, storage?: string) => ({
  server: serverId(n),
  kind,
  atMs: startMs - ageSeconds * s,
  storage
})
export const hostWith = (name: string, domains: number, faults: FleetHost['faults']): FleetHost => ({
  name,
  domains,
  faults,
  signals: []
})
export const many = (kind: string, count: number, storage?: string) =>
  Array.from({ length: count }, (_, n) => fault(kind, n, 0, storage))
