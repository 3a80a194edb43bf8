// What happened lately: of the whole fleet, and of each host for its own page. The newest first.
import type { Happening } from './types.ts'

const keptOfAll = 200
const keptOfOne = 50

export interface Chronicle {
  add: (happenings: readonly Happening[]) => void
  all: () => readonly Happening[]
  of: (about: string) => readonly Happening[]
  forget: (about: string) => void
}

export function chronicle(): Chronicle {
  let all: readonly Happening[] = []
  const byHost = new Map<string, readonly Happening[]>()
  return {
    add(happenings) {
      if (happenings.length === 0) return
      all = newestOf(happenings, all, keptOfAll)
      for (const happening of happenings)
        byHost.set(happening.about, newestOf([happening], byHost.get(happening.about) ?? [], keptOfOne))
    },
    all: () => all,
    of: about => byHost.get(about) ?? [],
    forget: about => void byHost.delete(about)
  }
}

/** One that is told again, because it happened again, takes the place of its earlier self. */
export function newestOf(fresh: readonly Happening[], known: readonly Happening[], count: number): Happening[] {
  const ids = new Set(fresh.map(({ id }) => id))
  return [...fresh, ...known.filter(({ id }) => !ids.has(id))].toSorted((a, b) => b.time.localeCompare(a.time)).slice(0, count)
}
