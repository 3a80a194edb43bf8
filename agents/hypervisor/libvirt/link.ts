// The host's own figures while a connection lasts: with each full check (NA-12), and soon again when a part of them could not be read
import { LibvirtError, type Libvirt } from 'node-libvirt'
import type { Fact, Link } from './fact.ts'
import { readLink } from './read.ts'

const soonMs = 30_000

export function followLink(
  virt: Libvirt,
  first: Link,
  { epoch, fullCheckMs, tell }: { epoch: number; fullCheckMs: number; tell: (fact: Fact) => void }
): { close: () => void } {
  let timer: NodeJS.Timeout
  let closed = false
  const look = async (): Promise<void> => {
    try {
      const link = await readLink(virt)
      if (closed) return
      tell({ kind: 'link', epoch, link })
      plan(link)
    } catch (err) {
      if (!(err instanceof LibvirtError)) throw err // the connection is gone: the next one reads everything
    }
  }
  const plan = ({ failed }: Link): void => {
    timer = setTimeout(() => void look(), failed ? Math.min(soonMs, fullCheckMs) : fullCheckMs)
  }
  plan(first)
  return {
    close: () => {
      closed = true
      clearTimeout(timer)
    }
  }
}
