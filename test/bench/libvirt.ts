import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { connect, type Domain, type Libvirt, procedures } from 'node-libvirt'
import { prepare, startLibvirt } from '../servers/libvirt.ts'
import { diskXml, guestXml, writeGuestImage } from '../servers/libvirt/guest.ts'
import { install } from '../servers/install.ts'
import { closing } from './lib/closing.ts'
import { atLeast, atMost, type Figures, type Report } from './lib/figures.ts'
import { alternate, median } from './lib/statistics.ts'

// Calls to a real libvirtd with four QEMU guests, over its unix socket. The peers are a C program on libvirt's own client, which makes
// one call after the other, and the same program with as many threads on its one connection as we have calls under way. All make the
// same calls in turns, so that what else the machine does meets all of them.
const guests = 4
const inFlight = 32

/** Microseconds: of the median call, and of all together. */
type Took = { median: number; total: number }

const kinds: Array<[name: string, count: number, call: (virt: Libvirt, domain: Domain) => Promise<unknown>]> = [
  ['state', 2000, (virt, domain) => virt.domainState(domain)], // libvirtd answers from memory
  ['xml', 1000, (virt, domain) => virt.domainXml(domain)], // it has some work to do
  ['block', 100, (virt, domain) => virt.call(procedures.domainGetBlockInfo, { domain, path: 'hda' })] // it asks QEMU
]

export const figures: Figures = Object.fromEntries(
  kinds.flatMap(([kind]) => [
    [`libvirt.latency.${kind}`, { unit: 'µs', against: 'C, one call at a time', goal: atMost(1.1) }],
    [`libvirt.pipelined.${kind}`, { unit: 'calls/s', against: 'C, one call at a time', goal: atLeast(2) }],
    [`libvirt.pipelined-threads.${kind}`, { unit: 'calls/s', against: `C, ${inFlight} threads on one connection` }]
  ])
)

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const prepared = await prepare()
    const built = await install(['libvirt-dev', 'gcc', 'libc6-dev'], ['/usr/include/libvirt/libvirt.h', '/usr/bin/gcc'])
    for (const step of [prepared, built]) if (!step.ok) throw new Error(step.reason)
    const { dir, nodes } = await startLibvirt(t)
    const uri = nodes[0]?.uri ?? ''
    const virt = await connect(uri)
    t.teardown(() => virt.close())
    await writeGuestImage(join(dir, 'g.img'))
    for (let n = 0; n < guests; n++) {
      const xml = guestXml(`g${n}`, { devices: diskXml(join(dir, 'g.img')) })
      await virt.call(procedures.domainCreateXml, { xml, flags: procedures.START.paused })
    }
    const peer = startPeer(dir, uri, end => t.teardown(end))
    const domains = await virt.domains()
    for (const [kind, count, call] of kinds) {
      const one = (n: number) => call(virt, domains[n % domains.length] as Domain)
      const ways = {
        theirs: () => peer(kind, count, 1),
        ours: () => oneByOne(one, count),
        threads: () => peer(kind, count, inFlight),
        pipelined: () => pipelined(one, count)
      }
      await alternate(1, ways) // warm
      const runs = await alternate(report.rounds(15), ways)
      const callUs = (list: Took[]) => list.map(round => round.median)
      const perSecond = (list: Took[]) => list.map(({ total }) => (count * 1e6) / total)
      report(`libvirt.latency.${kind}`, callUs(runs.ours), { peer: callUs(runs.theirs) })
      report(`libvirt.pipelined.${kind}`, perSecond(runs.pipelined), { peer: perSecond(runs.theirs) })
      report(`libvirt.pipelined-threads.${kind}`, perSecond(runs.pipelined), { peer: perSecond(runs.threads) })
    }
  })

async function oneByOne(call: (n: number) => Promise<unknown>, count: number): Promise<Took> {
  const took = new Float64Array(count)
  const start = performance.now()
  for (let n = 0; n < count; n++) {
    const before = performance.now()
    await call(n)
    took[n] = performance.now() - before
  }
  return { median: median([...took]) * 1000, total: (performance.now() - start) * 1000 }
}

async function pipelined(call: (n: number) => Promise<unknown>, count: number): Promise<Took> {
  let next = 0
  const start = performance.now()
  const worker = async () => {
    while (next < count) await call(next++)
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return { median: Number.NaN, total: (performance.now() - start) * 1000 }
}

type Peer = (kind: string, count: number, threads: number) => Promise<Took>

function startPeer(dir: string, uri: string, onEnd: (end: () => void) => void): Peer {
  const program = join(dir, 'client')
  execFileSync('gcc', ['-O2', '-pthread', '-o', program, join(import.meta.dirname, 'libvirt', 'client.c'), '-lvirt'])
  const child = spawn(program, [uri], { stdio: ['pipe', 'pipe', 'inherit'] })
  onEnd(() => void child.kill())
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  return async (kind, count, threads) => {
    child.stdin.write(`${kind} ${count} ${threads}\n`)
    const { value, done } = await answers.next()
    if (done) throw new Error('the C client has ended')
    const [median = Number.NaN, total = Number.NaN] = value.split(' ').map(Number)
    return { median, total }
  }
}
