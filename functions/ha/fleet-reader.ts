// The fleet as Kubernetes has it: one reading serves all hosts of a storm.
import type { Kube } from '../../shared/kube/connect.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { fleetHost, type Fleet } from './fleet.ts'

/** A page is held in memory whole. */
export const pageSize = 40
const fleetAgeMs = 1000

export function fleetReader(kube: Kube, nowMs: () => number): () => Promise<Fleet> {
  let known: { atMs: number; answer: Promise<Fleet> } | undefined
  const read = async (): Promise<Fleet> => {
    const hosts: Fleet[number][] = []
    for await (const page of kube.pages(Hypervisor, { pageSize })) hosts.push(...page.map(fleetHost))
    return hosts
  }
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
