// What the tests of the agent share: a broker that remembers, a host's files, an agent
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hypervisorAgent } from '../../../agents/hypervisor/agent.ts'
import { startAgent, type Running } from '../../../shared/runtime/agent.ts'
import { libvirtKinds } from '../../../shared/events/libvirt.ts'
import { Check } from 'typebox/value'
import { eventually } from '../../servers/eventually.ts'

interface Teardown {
  teardown(fn: () => unknown): void
}

export interface Told {
  type: string
  id: string
  subject: string
  sequence: string
  partitionkey: string
  data: Record<string, any>
}

const kinds = new Map(libvirtKinds.map(kind => [kind.type, kind]))
export const short = (type: string): string => type.replace(/^sap\.cloud\.kvm\./, '').replace(/\.v1$/, '')

/** A broker that takes, or is away, and checks each event against the table. */
export async function broker(t: Teardown) {
  const told: Told[] = []
  const malformed: string[] = []
  const state = { away: false }
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString()
    if (state.away) return response.writeHead(503).end()
    const header = (name: string) => String(request.headers[`ce-${name}`] ?? '')
    const event = {
      type: short(header('type')),
      id: header('id'),
      subject: header('subject'),
      sequence: header('sequence'),
      partitionkey: header('partitionkey'),
      data: JSON.parse(body) as Told['data']
    }
    if (!Check(kinds.get(header('type'))?.data ?? {}, event.data) || !kinds.has(header('type')))
      malformed.push(`${header('type')} ${body}`)
    told.push(event)
    return response.writeHead(202).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const find = (type: string, fits: (event: Told) => boolean = () => true) =>
    told.find(event => event.type === type && fits(event))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told,
    malformed,
    state,
    find,
    /** Those but heartbeats. */
    facts: () => told.filter(({ type }) => type !== 'heartbeat.sent'),
    seen: (type: string, fits?: (event: Told) => boolean) => eventually(`an event ${type}`, async () => find(type, fits))
  }
}
export type Broker = Awaited<ReturnType<typeof broker>>

/** A folder with the files of a host that the agent reads. */
export async function hostRoot(
  t: Teardown,
  osRelease = 'PRETTY_NAME="Garden Linux 1443.3"\nGARDENLINUX_VERSION=1443.3\nGARDENLINUX_FEATURES=kvm,log\n'
) {
  const root = await mkdtemp(join(tmpdir(), 'h-'))
  t.teardown(() => rm(root, { recursive: true, force: true, maxRetries: 5 }))
  await mkdir(join(root, 'etc'))
  await mkdir(join(root, 'proc/sys/kernel/random'), { recursive: true })
  await writeFile(join(root, 'etc/os-release'), osRelease)
  await writeFile(join(root, 'proc/cmdline'), 'ro quiet\n')
  await writeFile(join(root, 'proc/uptime'), '4711.42 9999.99\n')
  await writeFile(join(root, 'proc/sys/kernel/random/boot_id'), '11111111-2222-4333-8444-555555555555\n')
  return root
}

/** Of an API server that is not there: the agent lives without one. */
export async function kubeconfigOfNobody(folder: string): Promise<string> {
  const file = join(folder, 'kubeconfig')
  const [cluster, user] = [{ server: 'https://127.0.0.1:1' }, { token: 'none' }]
  const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }]
  const content = { clusters: [{ name: 'c', cluster }], users: [{ name: 'u', user }], contexts, 'current-context': 'c' }
  await writeFile(file, JSON.stringify(content))
  return file
}

export async function agent(
  t: Teardown,
  env: Record<string, string>,
  clock = () => new Date()
): Promise<Running & { lines: Record<string, any>[] }> {
  const lines: Record<string, any>[] = []
  const running = await startAgent(hypervisorAgent, {
    env: { HOST: '127.0.0.1', PORT: '0', SYSTEM_BUS: 'none', LOG_LEVEL: 'info', ...env },
    clock,
    logs: { write: line => void lines.push(JSON.parse(line) as Record<string, any>) }
  })
  running.ended.catch(err => lines.push({ level: 60, err: String(err) }))
  let closing: Promise<void> | undefined
  const close = () => (closing ??= running.close())
  t.teardown(close)
  return { ...running, lines, close }
}
