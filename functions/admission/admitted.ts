// Hosts that were let go a moment ago and that no watch has shown so yet: who asks for a second one in the same instant must hear of the first.
import type { Host } from '../../shared/rules/fleet.ts'

export interface Admitted {
  add(host: Host): void
  /** Told of every host that a watch shows. */
  seen(host: Host): void
  /** The fleet as it will be. */
  over(fleet: readonly Host[]): readonly Host[]
}

/** Longer than a watch is behind. What was admitted here may yet be refused by others: then the host counts as away for so long, and no longer. */
const believedMs = 10_000

export function admittedHosts(clock: () => Date): Admitted {
  const leaving = new Map<string, { host: Host; until: number }>()
  return {
    add: host => void leaving.set(host.name, { host, until: clock().getTime() + believedMs }),
    seen({ name, available }) {
      if (!available) leaving.delete(name)
    },
    over(fleet) {
      const now = clock().getTime()
      for (const [name, { until }] of leaving) if (until <= now) leaving.delete(name)
      return leaving.size === 0 ? fleet : fleet.map(host => leaving.get(host.name)?.host ?? host)
    }
  }
}
