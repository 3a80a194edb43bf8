// A libvirt by script for the agent: what a healthy one does too seldom to wait for it
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Domain } from 'node-libvirt'
import { type Hypervisor, ServerConnection, type ServedEvent, type ServerOptions } from 'node-libvirt/server'
import pino from 'pino'
import type { Test } from 'tap'
import type { Fact } from '../../../agents/hypervisor/libvirt/fact.ts'
import { watch, type WatchOptions } from '../../../agents/hypervisor/libvirt/watch.ts'

export const capabilities = `<capabilities><host><cpu><arch>x86_64</arch></cpu><topology><cells num='1'>
  <cell id='0'><memory unit='GiB'>1</memory><cpus num='1'><cpu id='0'/></cpus></cell></cells></topology></host></capabilities>`

/** Answers that a script may replace one by one. */
export function hypervisorOf(domains: () => readonly Domain[]): Hypervisor {
  return {
    libVersion: () => 9_000_000n,
    version: () => 7_002_000n,
    capabilities: () => capabilities,
    domainCapabilities: () => '<domainCapabilities/>',
    listAllDomains: () => [...domains()],
    state: () => ({ state: 'running', reason: 'booted' }),
    xml: () => '<domain/>',
    jobStats: () => ({ type: 'none', params: [] })
  }
}

export async function simLibvirt(t: Test, hypervisor: Hypervisor, options: ServerOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 's-'))
  const path = join(folder, 'sock')
  const clients = new Set<ServerConnection>()
  let server: Server | undefined
  const stop = (): void => {
    server?.close()
    for (const client of clients) client.close()
    clients.clear()
  }
  t.teardown(async () => {
    stop()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    uri: `test+unix:///default?socket=${path}`,
    start: async () => {
      server = createServer(socket => clients.add(new ServerConnection(socket, hypervisor, options))).listen(path)
      await once(server, 'listening')
    },
    stop,
    tell: (event: ServedEvent) => {
      for (const client of clients) client.tell(event)
    }
  }
}

/** The facts of a watch, one after the other. */
export function factsOf(t: Test, uri: string, options: Partial<WatchOptions> = {}) {
  const end = new AbortController()
  t.teardown(() => end.abort())
  let epoch = 0
  const facts = watch({
    uri,
    mayConnect: async () => {},
    nextEpoch: () => ++epoch,
    clock: () => new Date(0),
    log: pino({ level: 'silent' }),
    signal: end.signal,
    fullCheckMs: 3_600_000,
    ...options
  })
  const passed: Fact[] = []
  /** The next of this kind; what comes before it is in `passed`. */
  async function next<Kind extends Fact['kind']>(kind: Kind): Promise<Extract<Fact, { kind: Kind }>> {
    for (;;) {
      const { value, done } = await facts.next()
      if (done) throw new Error(`the facts ended before ${kind}`)
      passed.push(value)
      if (value.kind === kind) return value as Extract<Fact, { kind: Kind }>
    }
  }
  return { next, passed }
}
