// Which events are told (NA-15): a ConfigMap, mounted, read again when it changes
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Fact } from './libvirt/fact.ts'
import { watched } from './libvirt/subscribe.ts'

export type Chosen = ReadonlySet<string>
const lookMs = 2000

/** Names apart by anything but their letters; what libvirt does not have is told, not taken. */
export function parseChosen(text: string): { chosen: Chosen; unknown: string[] } {
  const words = text
    .split('\n')
    .map(line => line.replace(/#.*/, ''))
    .join(' ')
    .match(/[a-z][a-z-]*/g)
  const names: readonly string[] = watched
  return {
    chosen: new Set(words?.filter(word => names.includes(word))),
    unknown: (words ?? []).filter(word => !names.includes(word))
  }
}

/** The kind of libvirt's that what is told of a domain stems from; ha.md §2 has the table. */
function kindBehind(fact: Fact): string | undefined {
  if (fact.kind === 'event') return fact.event.kind
  if (fact.kind === 'snapshot') return 'lifecycle' // what a listing found out
  if (fact.kind === 'moving') return 'migration-iteration'
  return fact.kind === 'moved' ? 'job-completed' : undefined
}

export function isChosen(chosen: Chosen, fact: Fact): boolean {
  const kind = kindBehind(fact)
  // libvirt tells of an I/O error twice; it is told once, whichever was chosen
  return kind === undefined || chosen.has(kind) || (kind === 'io-error-reason' && chosen.has('io-error'))
}

/** All of them without a file, and as long as none was ever read. */
export async function followChosen(
  { file, log, signal }: { file: string | undefined; log: Logger; signal: AbortSignal },
  use: (chosen: Chosen) => void
): Promise<void> {
  use(new Set(watched))
  if (file === undefined) return
  let before: string | undefined
  while (!signal.aborted) {
    const text = await readFile(file, 'utf8').catch(() => undefined) // not yet there, or just being replaced
    if (text !== undefined && text !== before) {
      const { chosen, unknown } = parseChosen(text)
      before = text
      use(chosen)
      log.info({ chosen: [...chosen], ...(unknown.length > 0 && { unknown }) }, 'events to be told')
    }
    await sleep(lookMs, undefined, { signal }).catch(() => {}) // aborted: the loop ends
  }
}
