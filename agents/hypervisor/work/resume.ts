// Servers that their disk paused and that functions/ha wants to run on: each wish of `status.ha` is tried once, on a connection of its own.
import type { Logger } from 'pino'
import { connect, LibvirtError, procedures as p } from 'node-libvirt'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'

interface Options {
  uri: string
  clock: () => Date
  log: Logger
  signal: AbortSignal
}

/** An older wish has been given up by whoever had it; clocks may differ. */
const lateMs = 30_000

export function resumer({ uri, clock, log, signal }: Options) {
  let tried: ReadonlySet<string> = new Set()

  async function resume(server: string): Promise<void> {
    const virt = await connect(uri, { signal })
    try {
      const domain = await virt.call(p.domainLookupByUuid, { uuid: server })
      const { state, reason } = await virt.domainState(domain)
      // whatever else paused it is not for us to end
      if (state !== 'paused' || reason !== 'io-error') return log.info({ server, state, reason }, 'not resumed')
      await virt.call(p.domainResume, { domain })
      log.info({ server }, 'resumed, after its disk had paused it')
    } finally {
      await virt.close()
    }
  }

  return (live: Hypervisor): void => {
    const wishes = wishesOf(live, clock().getTime()).map(({ server, at }) => ({ server, key: `${server} ${at}` }))
    const fresh = wishes.filter(({ key }) => !tried.has(key))
    tried = new Set(wishes.map(({ key }) => key))
    for (const { server } of fresh)
      resume(server).catch((err: unknown) => {
        if (signal.aborted) return
        if (!(err instanceof LibvirtError)) throw err
        log.warn({ err, server }, 'could not be resumed')
      })
  }
}

/** What is asked for now. Pure. */
export function wishesOf({ status }: Pick<Hypervisor, 'status'>, nowMs: number): Array<{ server: string; at: string }> {
  return (status?.ha?.incidents ?? []).flatMap(({ server, state, attempts = [] }) => {
    const { action, at = '' } = attempts.at(-1) ?? {}
    const asked = state === 'Resuming' && action === 'resume' && Math.abs(nowMs - Date.parse(at)) <= lateMs
    return asked ? [{ server, at }] : []
  })
}
