// The fleet as Kubernetes has it: one reading serves all hosts of a storm.
import type { KeptList } from '../../shared/kube/kept-list.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { fleetHost, type Fleet } from './fleet.ts'

const fleetAgeMs = 1000

export function fleetReader(hosts: KeptList<Hypervisor>, nowMs: () => number): () => Promise<Fleet> {
  let known: { atMs: number; answer: Promise<Fleet> } | undefined
  const read = async (): Promise<Fleet> => (await hosts.all()).map(fleetHost)
  return () => {
    if (known && nowMs() - known.atMs < fleetAgeMs) return known.answer
    const asked = { atMs: nowMs(), answer: read() }
    known = asked
    asked.answer.catch(() => {
      if (known === asked) known = undefined
    })
    return asked.answer
  }
}
