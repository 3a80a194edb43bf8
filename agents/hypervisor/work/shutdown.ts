// Holds back a shutdown until the servers are gone (NA-20…22)
import type { Logger } from 'pino'
import { shutdownCancelled, shutdownRequested } from '../../../shared/events/libvirt.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { Inhibitor } from '../host/inhibitor.ts'
import { activeDomains, type Known } from '../known.ts'
import type { Message } from '../to-event.ts'

interface Options {
  known: Known
  lock: Inhibitor
  tell: (kind: Message['kind'], data?: object) => void
  log: Logger
}

export interface ShutdownGuard {
  /** logind says that a shutdown comes, or that it was called off. */
  heard: (coming: boolean) => void
  /** The object, or the domains, may have changed. */
  look: (live: Hypervisor | undefined) => void
  /** logind is there (again), with this budget. */
  connected: (budgetSeconds: number) => Promise<void>
  close: () => void
}

/** To have let go before logind goes on without us: a fifth of the time, but no more than 5 s. */
const holdMs = (budgetSeconds: number): number => budgetSeconds * 1000 - Math.min(5000, budgetSeconds * 200)

export function shutdownGuard({ known, lock, tell, log }: Options): ShutdownGuard {
  let wanted = true // evacuateOnReboot, until the object says otherwise
  let available = false
  let coming = false
  let evicted = false
  let timer: NodeJS.Timeout | undefined

  const release = (why: string): void => {
    clearTimeout(timer)
    if (!lock.held) return
    lock.release()
    log.info({ why }, 'the shutdown is no longer held back')
  }
  /** Needs no API server: the domains are our own. */
  const mayGo = (): void => {
    if (coming && known.domains !== undefined && activeDomains(known) === 0) release('no domain runs any more')
    else if (coming && evicted) release('the eviction has succeeded')
  }
  const settle = async (): Promise<void> => {
    if (available && wanted && !coming) await lock.take()
    else if (!wanted) release('evacuateOnReboot is off')
  }

  return {
    heard(now) {
      if (now === coming) return
      coming = now
      if (!now) {
        clearTimeout(timer)
        tell(shutdownCancelled)
        void settle()
        return
      }
      const budgetSeconds = lock.held ? (known.shutdownBudgetSeconds ?? 0) : 0
      tell(shutdownRequested, { budgetSeconds })
      log.warn({ budgetSeconds, held: lock.held }, 'the host was asked to shut down')
      timer = setTimeout(() => release('the time is up'), holdMs(budgetSeconds))
      mayGo()
    },
    look(live) {
      wanted = live?.spec?.evacuateOnReboot ?? wanted
      const evicting = live?.status?.conditions?.find(({ type }) => type === 'Evicting')
      evicted = evicting?.status === 'False' && evicting.reason === 'Succeeded'
      void settle()
      mayGo()
    },
    async connected(budgetSeconds) {
      available = true
      known.shutdownBudgetSeconds = budgetSeconds
      if (!coming) lock.release() // a logind that was started anew knows nothing of the old one
      await settle()
    },
    close() {
      clearTimeout(timer)
      lock.release()
    }
  }
}
