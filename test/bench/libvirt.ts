import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { connect, type Domain, type Libvirt, procedures } from 'node-libvirt'
import { prepare, startLibvirt } from '../servers/libvirt.ts'
import { diskXml, guestXml, writeGuestImage } from '../servers/libvirt/guest.ts'
import { install } from '../servers/install.ts'
import { median, type Report } from './report.ts'

// Calls to a real libvirtd with four QEMU guests, over its unix socket. The peer is a C program on libvirt's own client; both make
// the same calls in turns, so that what else the machine does hits both. Pipelined: many calls under way on one connection,
// which the C client cannot do; there its calls one after the other are the peer.
export const name = 'libvirt'

const rounds = 15
const guests = 4
const inFlight = 32

/** Microseconds: of the median call, and of all together. */
type Took = { median: number; total: number }
type Calls = (count: number) => Promise<Took>

const kinds: Array<[name: string, count: number, call: (virt: Libvirt, domain: Domain) => Promise<unknown>]> = [
  ['state', 2000, (virt, domain) => virt.domainState(domain)], // libvirtd answers from memory
  ['xml', 1000, (virt, domain) => virt.domainXml(domain)], // it has some work to do
  ['block', 100, (virt, domain) => virt.call(procedures.domainGetBlockInfo, { domain, path: 'hda' })] // it asks QEMU
]

export async function run(report: Report): Promise<void> {
  const prepared = await prepare()
  const built = await install(['libvirt-dev', 'gcc', 'libc6-dev'], ['/usr/include/libvirt/libvirt.h', '/usr/bin/gcc'])
  for (const step of [prepared, built]) if (!step.ok) throw new Error(step.reason)
  const ends: Array<() => Promise<void> | void> = []
  try {
    const { dir, nodes } = await startLibvirt({ teardown: end => void ends.unshift(end) })
    const uri = nodes[0]?.uri ?? ''
    const virt = await connect(uri)
    ends.unshift(() => virt.close())
    await writeGuestImage(join(dir, 'g.img'))
    for (let n = 0; n < guests; n++) {
      const xml = guestXml(`g${n}`, { devices: diskXml(join(dir, 'g.img')) })
      await virt.call(procedures.domainCreateXml, { xml, flags: procedures.START.paused })
    }
    const peer = startPeer(dir, uri, end => void ends.unshift(end))
    const domains = await virt.domains()
    for (const [kind, count, call] of kinds) await compare(report, kind, count, call, virt, domains, peer)
  } finally {
    for (const end of ends) await end()
  }
}

async function compare(
  report: Report,
  kind: string,
  count: number,
  call: (virt: Libvirt, domain: Domain) => Promise<unknown>,
  virt: Libvirt,
  domains: readonly Domain[],
  peer: (kind: string) => Calls
): Promise<void> {
  const one = (n: number) => call(virt, domains[n % domains.length] as Domain)
  const ways: Calls[] = [peer(kind), oneByOne(one), pipelined(one)]
  const took: Took[][] = ways.map(() => [])
  for (const way of ways) await way(count) // warm
  for (let round = 0; round < rounds; round++) for (const [at, way] of ways.entries()) took[at]?.push(await way(count))

  const [theirs = [], ours = [], many = []] = took
  const callUs = (list: Took[]) => median(list.map(round => round.median))
  const perSecond = (list: Took[]) => (count * 1e6) / median(list.map(round => round.total))
  report({ name: `libvirt.latency.${kind}`, ours: callUs(ours), peer: callUs(theirs), goal: { atMost: 1.1 }, unit: 'µs' })
  report({
    name: `libvirt.pipelined.${kind}`,
    ours: perSecond(many),
    peer: perSecond(theirs),
    goal: { atLeast: 2 },
    unit: 'calls/s'
  })
}

function oneByOne(call: (n: number) => Promise<unknown>): Calls {
  return async count => {
    const took = new Float64Array(count)
    const start = performance.now()
    for (let n = 0; n < count; n++) {
      const before = performance.now()
      await call(n)
      took[n] = performance.now() - before
    }
    return { median: median([...took]) * 1000, total: (performance.now() - start) * 1000 }
  }
}

function pipelined(call: (n: number) => Promise<unknown>): Calls {
  return async count => {
    let next = 0
    const start = performance.now()
    const worker = async () => {
      while (next < count) await call(next++)
    }
    await Promise.all(Array.from({ length: inFlight }, worker))
    return { median: Number.NaN, total: (performance.now() - start) * 1000 }
  }
}

function startPeer(dir: string, uri: string, onEnd: (end: () => void) => void): (kind: string) => Calls {
  const program = join(dir, 'client')
  execFileSync('gcc', ['-O2', '-o', program, join(import.meta.dirname, 'libvirt', 'client.c'), '-lvirt'])
  const child = spawn(program, [uri], { stdio: ['pipe', 'pipe', 'inherit'] })
  onEnd(() => void child.kill())
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  return kind => async count => {
    child.stdin.write(`${kind} ${count}\n`)
    const { value, done } = await answers.next()
    if (done) throw new Error('the C client has ended')
    const [median = Number.NaN, total = Number.NaN] = value.split(' ').map(Number)
    return { median, total }
  }
}
