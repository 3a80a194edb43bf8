import { LibvirtError, type Domain, type Libvirt } from 'node-libvirt'
import { unreadable, type DomainRead, type Fact } from './fact.ts'
import type { LogDomain } from './lister.ts'
import { readDomain } from './read.ts'

/** Waits before the reads that follow one which found a domain off: a transient one is there for a moment after its end, and nothing tells then. */
const settleMs = [100, 500, 2000, 10_000]

/** Reads a domain after its event, one read at a time for each: a later event makes it read once more, so the last word is the newest. */
export function domainReader(virt: Libvirt, epoch: number, tell: (fact: Fact) => void, log: LogDomain) {
  const busy = new Map<string, boolean>()
  const later = new Map<string, NodeJS.Timeout>()
  let closed = false
  const run = async (domain: Domain, turn: number): Promise<void> => {
    let read: DomainRead | undefined
    do {
      busy.set(domain.uuid, false)
      read = await readDomain(virt, domain, err => log(err, domain))
      if (busy.get(domain.uuid) === false) tell({ kind: 'domain', epoch, id: domain.uuid, read })
    } while (busy.get(domain.uuid) === true)
    busy.delete(domain.uuid)
    const delay = settleMs[turn]
    if ((read?.state === 'off' || read?.state === unreadable) && delay !== undefined && !closed)
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
    close: (): void => {
      closed = true
      for (const timer of later.values()) clearTimeout(timer)
    }
  }
}
