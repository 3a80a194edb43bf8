// A host with a real libvirtd and the agent as a process of its own. What the fake Nova is asked for really happens to the domains here,
// as nova-compute would do it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { connect as connectLibvirt, LibvirtError, procedures as p, type Domain, type Libvirt } from 'node-libvirt'
import type { Test } from 'tap'
import type { FakeOpenStack, Instance } from '../../../shared/local/openstack/index.ts'
import { eventually } from '../../servers/eventually.ts'
import { hostRoot } from '../../agents/hypervisor/harness.ts'
import type { LibvirtNode } from '../../servers/libvirt.ts'
import { guestXml } from '../../servers/libvirt/guest.ts'

export interface Compute {
  /** A server in Nova and its domain, running; by what is in the guest. */
  server: (name: string, devices?: string, flags?: number) => Promise<Domain>
  /** A fresh connection after libvirtd was killed. */
  virt: () => Libvirt
  reconnect: () => Promise<void>
  /** The process of its guest ends without a word. */
  killQemu: (name: string) => Promise<unknown>
  /** What a guest would write to a port. */
  monitor: (name: string, ...commands: string[]) => Promise<unknown>
  /** What nova-compute could not do. */
  failures: unknown[]
}

export async function compute(t: Test, node: LibvirtNode, fake: FakeOpenStack, host: string): Promise<Compute> {
  let virt = await connectLibvirt(node.uri)
  t.teardown(() => virt.close())
  const domains = new Map<string, Domain>()
  const failures: unknown[] = []
  const done = new Set<string>()
  const stop = (domain: Domain): Promise<unknown> => virt.call(p.domainDestroy, { domain }).catch(ifOff)
  const works: Record<string, (domain: Domain) => Promise<unknown>> = {
    stop,
    delete: stop,
    async reboot(domain) {
      await stop(domain)
      await virt.call(p.domainCreate, { domain })
    }
  }
  fake.world.watchers.add(({ id, actions: [last] }: Instance) => {
    const domain = domains.get(id)
    if (!last || !domain || done.has(last.requestId)) return
    done.add(last.requestId)
    works[last.action]?.(domain).catch((err: unknown) => failures.push(err))
  })
  return {
    virt: () => virt,
    async reconnect() {
      await virt.close()
      virt = await eventually('libvirtd again', () => connectLibvirt(node.uri).catch(ifAway))
    },
    failures,
    async server(name, devices = '', flags = 0) {
      const domain = await virt.call(p.domainDefineXml, { xml: guestXml(name, { devices }) })
      await virt.call(p.domainCreate, { domain, flags })
      domains.set(domain.uuid, domain)
      fake.addServer({ id: domain.uuid, name, host })
      return domain
    },
    killQemu: name => node.runAsync(`kill -9 $(cat /run/libvirt/qemu/${name}.pid)`),
    monitor: (name, ...commands) =>
      node.virshAsync(`'${commands.map(command => `qemu-monitor-command ${name} --hmp "${command}"`).join('; ')}'`)
  }
}

function ifOff(err: unknown): void {
  if (!(err instanceof LibvirtError && err.code === 'invalid-state')) throw err
}

function ifAway(err: unknown): undefined {
  if (!(err instanceof LibvirtError)) throw err
}

export interface AgentProcess {
  /** It has not ended by itself. */
  runs(): boolean
  /** It ends in the middle of whatever it does. */
  kill(): Promise<void>
}

/** Started again with the same root, it is the same host. */
export async function agentProcess(t: Test, env: Record<string, string>): Promise<AgentProcess> {
  const main = join(import.meta.dirname, '../../../agents/hypervisor/main.ts')
  const base = { HOST: '127.0.0.1', PORT: '0', SYSTEM_BUS: 'none', LOG_LEVEL: process.env['AGENT_LOG'] ?? 'fatal' }
  const child = spawn(process.execPath, ['--conditions=drover', main], {
    env: { ...base, ...env },
    stdio: ['ignore', 'inherit', 'inherit']
  })
  const exited = once(child, 'exit')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  t.teardown(kill)
  return { kill, runs: () => child.exitCode === null && child.signalCode === null }
}

/** For one agent; the files of its host are made up. */
export async function agentEnv(
  t: Test,
  { host, kubeconfig, sink, node }: { host: string; kubeconfig: string; sink: string; node: LibvirtNode }
): Promise<Record<string, string>> {
  const root = await hostRoot(t)
  return {
    NODE_NAME: host,
    KUBECONFIG: kubeconfig,
    K_SINK: sink,
    LIBVIRT_URI: node.uri,
    HOST_ROOT: root,
    STATE_FOLDER: join(root, 'state'),
    STATUS_GAP: '200ms'
  }
}
