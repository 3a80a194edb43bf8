// The host beside libvirt: units, the shutdown lock, the facts of the operating system
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { kernelCrashed, libvirtLost } from '../../../shared/events/libvirt.ts'
import type { Wiring } from '../agent.ts'
import { shutdownGuard, type ShutdownGuard } from '../work/shutdown.ts'
import { withBus, type Bus } from './bus.ts'
import { findDumps, newDumps } from './crash.ts'
import { inhibitor } from './inhibitor.ts'
import { logind } from './logind.ts'
import { readOperatingSystem } from './os.ts'
import { systemd, type Systemd } from './systemd.ts'

export interface HostPart {
  run: () => Promise<void>
  /** Resolves when nothing speaks against a connection to libvirt (NA-11). */
  mayConnect: (signal: AbortSignal) => Promise<void>
  systemd: () => Systemd | undefined
  refreshOs: () => Promise<void>
  guard: ShutdownGuard
  close: () => void
}

const down = new Set(['inactive', 'failed', 'deactivating'])
const settleMs = 50

export function followHost(wiring: Wiring): HostPart {
  const { config, known, store, log, signal, changed, tell } = wiring
  let bus: Bus | undefined
  let manager: Systemd | undefined
  let looking = false
  let unguarded = false
  let unitsChanged = Promise.withResolvers<void>()
  /** The bus was asked for the units, or cannot be: before that nobody knows whether libvirt is down. */
  let asked = config.systemBus === 'none'
  const lock = inhibitor({
    command: config.inhibitCommand,
    busAddress: config.systemBus,
    failed: err => {
      log.error({ err }, 'the shutdown lock')
      known.problems.set('lock', err.message)
      changed()
    },
    holds: () => {
      if (known.problems.delete('lock')) changed()
    }
  })
  const guard = shutdownGuard({ known, lock, tell, log })

  async function readUnits(): Promise<void> {
    known.units = (await manager?.units([...new Set([...config.units, config.libvirtUnit])])) ?? []
    asked = true
    unitsChanged.resolve()
    unitsChanged = Promise.withResolvers()
    changed()
  }
  /** systemd tells of a change several times; one look is enough. */
  const lookSoon = (): void => {
    if (looking) return
    looking = true
    sleep(settleMs, undefined, { signal })
      .then(() => {
        looking = false
        return readUnits()
      })
      .catch(err => {
        if (!signal.aborted) log.warn({ err }, 'the units could not be read')
      })
  }
  async function refreshOs(): Promise<void> {
    known.os = await readOperatingSystem(config.hostRoot, bus)
    changed()
  }
  async function lookForCrash(): Promise<void> {
    const found = await findDumps(config.hostRoot)
    const known = store.read().dumps
    const dumps = newDumps(found, known)
    if (dumps.length > 0) {
      log.error({ dumps }, 'the kernel of this host has crashed')
      tell(kernelCrashed, { dumps })
    }
    if (!isDeepStrictEqual(found, known)) await store.write({ dumps: found })
  }
  async function guardShutdown(on: Bus): Promise<void> {
    try {
      const { maxDelaySeconds } = await logind(on, guard.heard)
      unguarded = false
      known.problems.delete('lock')
      await guard.connected(maxDelaySeconds)
      if (maxDelaySeconds * 1000 < config.expectedDrain)
        known.problems.set('budget', `a shutdown can be held back for ${maxDelaySeconds} s only; a drain takes longer`)
      else known.problems.delete('budget')
    } catch (err) {
      unguarded = true
      log.warn({ err }, 'logind cannot be reached: a shutdown is not held back')
      known.problems.set('lock', `a shutdown is not held back: ${(err as Error).message}`)
    }
  }
  const lost = (reason: string): void => {
    ;[bus, manager] = [undefined, undefined]
    known.problems.set('bus', `the system bus: ${reason}`)
    known.units = known.units.map(unit => ({ ...unit, active: 'unknown' }))
    asked = true
    unitsChanged.resolve()
    unitsChanged = Promise.withResolvers()
    changed()
  }
  const overBus = (): Promise<void> =>
    withBus({ address: config.systemBus, signal, log, lost }, async opened => {
      manager = await systemd(opened, lookSoon)
      bus = opened
      known.problems.delete('bus')
      await guardShutdown(opened)
      await readUnits()
      await refreshOs()
    })
  const notRunning = (): void => {
    const message = `${config.libvirtUnit} is not running`
    if (known.connection === undefined) tell(libvirtLost, { reason: message }) // never there since the start is as lost as gone
    known.connection = { type: 'LibVirtConnection', status: 'False', reason: 'LibVirtServiceNotRunning', message }
    changed()
  }
  const unitDown = (): boolean =>
    known.units.some(({ name, active, load }) => name === config.libvirtUnit && load !== 'not-found' && down.has(active))

  const mayBeDown = (): boolean => !asked || unitDown()

  return {
    guard,
    refreshOs,
    systemd: () => manager,
    close: () => guard.close(),
    async mayConnect(stop) {
      const stopped = Promise.withResolvers<void>()
      const giveUp = () => stopped.resolve()
      stop.addEventListener('abort', giveUp)
      while (mayBeDown() && !stop.aborted) {
        if (unitDown()) notRunning()
        await Promise.race([unitsChanged.promise, stopped.promise])
      }
      stop.removeEventListener('abort', giveUp)
      stop.throwIfAborted()
    },
    async run() {
      const look = async () => {
        await lookForCrash()
        await refreshOs()
        if (bus !== undefined && unguarded) await guardShutdown(bus)
      }
      await look()
      const timer = setInterval(() => void look(), config.fullCheck)
      signal.addEventListener('abort', () => clearInterval(timer), { once: true })
      if (config.systemBus !== 'none') await overBus()
    }
  }
}
