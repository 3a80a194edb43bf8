// Lists every domain: at the start of a connection, and again whenever something may have been missed (NA-9)
import { isConnectionLost, LibvirtError, type Domain, type Libvirt } from 'node-libvirt'
import type { DomainRead, Fact } from './fact.ts'
import type { Moves } from './moves.ts'
import { readDomain } from './read.ts'

export type LogDomain = (err: Error, domain: Domain) => void

/** Domains read at once: enough to keep libvirt busy, few enough that their XML does not fill the memory. */
const atOnce = 16
const retryMs = 10_000

export async function readAll(virt: Libvirt, log: LogDomain, moves?: Moves): Promise<DomainRead[]> {
  const domains = await virt.domains()
  const reads: Array<DomainRead | undefined> = []
  for (let at = 0; at < domains.length; at += atOnce) {
    const some = domains.slice(at, at + atOnce)
    reads.push(...(await Promise.all(some.map(domain => readDomain(virt, domain, err => log(err, domain))))))
  }
  moves?.listed(domains)
  return reads.filter(read => read !== undefined)
}

export interface Lister {
  /** An event came for this domain: what is being listed of it may be older. */
  touch: (domain: Domain) => void
  /** One listing at a time; asked for while one is made, another follows. */
  again: () => void
  close: () => void
}

/** A listing that failed changes nothing, and is made anew later. */
export function lister(virt: Libvirt, epoch: number, tell: (fact: Fact) => void, log: LogDomain): Lister {
  let touched: Set<string> | undefined
  let wanted = false
  let closed = false
  let timer: NodeJS.Timeout | undefined

  const run = async (): Promise<void> => {
    while (wanted) {
      wanted = false
      touched = new Set()
      try {
        const domains = await readAll(virt, log)
        tell({ kind: 'snapshot', epoch, domains, except: touched })
      } catch (err) {
        if (!(err instanceof LibvirtError)) throw err
        if (!isConnectionLost(err) && !closed) timer = setTimeout(again, retryMs)
      }
    }
    touched = undefined
  }
  const again = (): void => {
    if (closed) return
    clearTimeout(timer)
    wanted = true
    if (touched === undefined) void run()
  }
  return {
    again,
    touch: domain => void touched?.add(domain.uuid),
    close: () => {
      closed = true
      wanted = false
      clearTimeout(timer)
    }
  }
}
