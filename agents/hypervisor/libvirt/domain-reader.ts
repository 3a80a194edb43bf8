import { LibvirtError, type Domain, type Libvirt } from 'node-libvirt'
import { unreadable, type DomainRead, type Fact } from './fact.ts'
import type { LogDomain } from './lister.ts'
import { readControl, readDomain } from './read.ts'

/** Waits before the reads that follow one which found a domain off: a transient one is there for a moment after its end, and nothing tells then. */
const settleMs = [100, 500, 2000, 10_000]

/** Reads a domain after its event, one read at a time for each: a later event makes it read once more, so the last word is the newest. */
export function domainReader(
  virt: Libvirt,
  epoch: number,
  tell: (fact: Fact) => void,
  log: LogDomain,
  doubted: Map<string, Domain>
) {
  const busy = new Map<string, boolean>()
  const later = new Map<string, NodeJS.Timeout>()
  let closed = false
  const controlOf = async (domain: Domain): Promise<Pick<DomainRead, 'control'>> => {
    const control = doubted.has(domain.uuid) ? await readControl(virt, domain, err => log(err, domain)) : undefined
    if (control?.state === 'ok') doubted.delete(domain.uuid)
    return control ? { control } : {}
  }
  const run = async (domain: Domain, turn: number): Promise<void> => {
    let read: DomainRead | undefined
    do {
      busy.set(domain.uuid, false)
      read = await readDomain(virt, domain, err => log(err, domain))
      if (read) read = { ...read, ...(await controlOf(domain)) }
      else doubted.delete(domain.uuid)
      if (busy.get(domain.uuid) === false) tell({ kind: 'domain', epoch, id: domain.uuid, read })
    } while (busy.get(domain.uuid) === true)
    busy.delete(domain.uuid)
    const delay = settleMs[turn]
    const unsettled = read?.state === 'off' || read?.state === unreadable || doubted.has(domain.uuid)
    if (unsettled && delay !== undefined && !closed)
      later.set(
        domain.uuid,
        setTimeout(() => start(domain, turn + 1), delay)
      )
  }
  const start = (domain: Domain, turn = 0): void => {
    clearTimeout(later.get(domain.uuid))
    later.delete(domain.uuid)
    if (busy.has(domain.uuid)) return void busy.set(domain.uuid, true)
    run(domain, turn).catch(err => {
      busy.delete(domain.uuid) // the connection is gone: the next one lists everything
      if (!(err instanceof LibvirtError)) throw err
    })
  }
  return {
    read: (domain: Domain): void => start(domain),
    /** libvirt lost its way into it: whether it has one is asked. */
    doubt: (domain: Domain): void => {
      doubted.set(domain.uuid, domain)
      start(domain)
    },
    again: (): void => doubted.forEach(domain => start(domain)),
    close: (): void => {
      closed = true
      for (const timer of later.values()) clearTimeout(timer)
    }
  }
}
