// A server that its disk paused is resumed once, by the agent of its host: Nova refuses to, since it did not pause it. QEMU repeats what
// failed, so that a disk that is still broken pauses it again and harms nothing; what the guest holds in memory is kept. Pure.
import { wishOf } from './answer.ts'
import { ms } from './incident.ts'
import type { Incident } from './seen.ts'
import type { View } from './view.ts'

export function mayResume({ kind, attempts = [] }: Incident, view: View): boolean {
  const { domain, policy, nowMs, hold, evidence, aggregates } = view
  const { vm } = policy
  const tried = attempts.some(({ action, at }) => action === 'resume' && ms(at) > nowMs - vm.windowSeconds * 1000)
  const wanted = vm.resumeAfterDisk && wishOf(evidence.server, aggregates, policy)?.wish !== false
  return kind === 'disk' && domain?.state === 'paused' && wanted && !tried && !hold
}

/** So long it may take until the agent has done it and says so. */
export const resumeMs = 20_000
