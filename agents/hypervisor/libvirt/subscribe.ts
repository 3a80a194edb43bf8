// An older libvirt, or a driver without events, is no reason to be blind: what it cannot tell is found out by listings, and is said in `degraded`.
import { LibvirtError, type Libvirt, type Subscription } from 'node-libvirt'

/** Those of ha.md §2. Which of them are told is chosen elsewhere; the agent itself needs them all. */
export const watched = [
  'lifecycle',
  'reboot',
  'watchdog',
  'io-error',
  'io-error-reason',
  'control-error',
  'agent-lifecycle',
  'migration-iteration',
  'job-completed',
  'memory-failure'
] as const
type Watched = (typeof watched)[number]

export interface Subscribed {
  events: Subscription<Watched>
  /** What this libvirt cannot tell. */
  missing: readonly Watched[]
}

/** Refused by the server: an event that it does not know is an internal error to it, and a driver without events is unsupported. */
const isRefused = (err: unknown): boolean => err instanceof LibvirtError && err.server !== undefined && err.code !== 'denied'

export async function subscribe(virt: Libvirt, capacity: number): Promise<Subscribed> {
  try {
    return { events: await virt.subscribe(watched, { capacity }), missing: [] }
  } catch (err) {
    if (!isRefused(err)) throw err
  }
  const known: Watched[] = []
  for (const kind of watched) if (await tells(virt, kind)) known.push(kind)
  const events = known.length > 0 ? await virt.subscribe(known, { capacity }) : silence(virt)
  return { events, missing: watched.filter(kind => !known.includes(kind)) }
}

async function tells(virt: Libvirt, kind: Watched): Promise<boolean> {
  try {
    const trial = await virt.subscribe([kind])
    await trial.return?.()
    return true
  } catch (err) {
    if (!isRefused(err)) throw err
    return false
  }
}

/** Lasts as long as the connection. */
const silence = (virt: Libvirt): AsyncIterableIterator<never> => ({
  async next() {
    const reason = await virt.closed
    if (reason) throw reason
    return { done: true, value: undefined }
  },
  [Symbol.asyncIterator]() {
    return this
  }
})
