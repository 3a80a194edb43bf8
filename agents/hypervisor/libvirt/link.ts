// The host's own figures while a connection lasts: with each full check (NA-12), and soon again when a part of them could not be read
import { LibvirtError } from 'node-libvirt'
import type { Fact, Link } from './fact.ts'

const soonMs = 30_000

export function followLink(
  read: () => Promise<Link>,
  first: Link,
  { epoch, fullCheckMs, tell }: { epoch: number; fullCheckMs: number; tell: (fact: Fact) => void }
): { close: () => void } {
  let timer: NodeJS.Timeout
  let closed = false
  const look = async (): Promise<void> => {
    try {
      const link = await read()
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
