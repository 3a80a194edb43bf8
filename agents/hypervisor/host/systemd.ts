// Units and jobs of systemd
import type { Bus, Target } from './bus.ts'

const manager: Target = {
  service: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager'
}

export interface Unit {
  name: string
  /** loaded, not-found, … */
  load: string
  /** active, inactive, failed, activating, deactivating, reloading, … */
  active: string
}

export type JobResult = 'done' | 'canceled' | 'timeout' | 'failed' | 'dependency' | 'skipped' | (string & {})

export interface Systemd {
  units: (names: readonly string[]) => Promise<Unit[]>
  /** Starts a unit and waits for the end of its job; a unit that has failed by then has failed. */
  start: (unit: string, signal: AbortSignal) => Promise<JobResult>
}

/** `changed` is told whenever a unit may have changed. */
export async function systemd(bus: Bus, changed: () => void): Promise<Systemd> {
  const ended = new Map<string, JobResult>()
  let wake = Promise.withResolvers<void>()
  await bus.listen(`type='signal',interface='${manager.interface}',member='JobRemoved'`, ({ body = [] }) => {
    const [, job, , result] = body as [number, string, string, string]
    ended.set(job, result)
    if (ended.size > 100) ended.delete(ended.keys().next().value as string)
    wake.resolve()
    wake = Promise.withResolvers()
    changed()
  })
  await bus.listen(`type='signal',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'`, ({ path = '' }) => {
    if (path.startsWith('/org/freedesktop/systemd1/unit/')) changed()
  })
  await bus.call(manager, 'Subscribe') // without it systemd tells nobody of its units
  const units = async (names: readonly string[]): Promise<Unit[]> => {
    const rows = (await bus.call(manager, 'ListUnitsByNames', 'as', [[...names]])) as string[][]
    return rows.map(([name = '', , load = '', active = '']) => ({ name, load, active }))
  }
  return {
    units,
    async start(unit, signal) {
      const job = (await bus.call(manager, 'StartUnit', 'ss', [unit, 'replace'])) as string
      signal.throwIfAborted()
      const given = Promise.withResolvers<never>()
      const giveUp = (): void => given.reject(signal.reason as Error)
      const gone = bus.closed.then(() => Promise.reject(new Error('the bus hung up')))
      for (const end of [given.promise, gone]) end.catch(() => {}) // told by the race, if it still runs
      signal.addEventListener('abort', giveUp)
      try {
        while (!ended.has(job)) await Promise.race([wake.promise, gone, given.promise])
      } finally {
        signal.removeEventListener('abort', giveUp)
      }
      const result = ended.get(job) as JobResult
      ended.delete(job)
      if (result !== 'done') return result
      const [after] = await units([unit]) // a start that is done says nothing of a program that fails right after it (NA-24)
      return after?.active === 'failed' ? 'failed' : result
    }
  }
}
