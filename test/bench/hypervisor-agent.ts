import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, procedures } from 'node-libvirt'
import { bundle } from '../../shared/runtime/bundle.ts'
import { eventually } from '../servers/eventually.ts'
import { answering, prepare, startLibvirt } from '../servers/libvirt.ts'
import { closing } from './lib/closing.ts'
import { confine } from './lib/confine.ts'
import { atMost, type Figures, type Report } from './lib/figures.ts'
import { cpuSeconds, megabytesAsMib, residentMib } from './lib/processes.ts'
import { shipped } from './lib/shipped.ts'

// The agent as it is shipped, a bundle in a process of its own, on a real libvirtd: 200 domains of libvirt's test driver, a sink that takes
// everything, no API server (it waits for one). Latency is from before the call that makes libvirt tell to the sink's receipt.
const domains = 200
const events = 500
const outages = [1, 20] // the second is longer than the way of the back-off to its longest wait
const idleSeconds = Number(process.env['IDLE_SECONDS'] ?? 300) // 5 min: the goal's own

const reconnect = (seconds: number): string => `hypervisor-agent.reconnect.${seconds}s-outage`

export const figures: Figures = {
  'hypervisor-agent.resident': { unit: 'MiB', goal: atMost(megabytesAsMib(90)), note: `90 MB; ${domains} domains` },
  'hypervisor-agent.cpu': { unit: '% of a core', goal: atMost(1), note: `at rest for ${idleSeconds} s` },
  'hypervisor-agent.event-to-sink.p50': { unit: 'ms', of: 'p50' },
  'hypervisor-agent.event-to-sink.p99': { unit: 'ms', of: 'p99', goal: atMost(50) },
  ...Object.fromEntries(outages.map(seconds => [reconnect(seconds), { unit: 'ms', goal: atMost(1000) }]))
}

const nowhere = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 'none' } }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'c'
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const prepared = await prepare()
    if (!prepared.ok) throw new Error(prepared.reason)
    const { nodes } = await startLibvirt(t, { nodes: [{ name: 'a', restart: true }] })
    const [node] = nodes
    if (!node) throw new Error('no libvirtd')
    const virt = await connect(node.testUri)
    const folder = await mkdtemp(join(tmpdir(), 'agent-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    for (let n = 1; n < domains; n++) {
      const xml = `<domain type='test'><name>d${n}</name><memory>65536</memory><vcpu>1</vcpu><os><type>hvm</type></os></domain>`
      await virt.call(procedures.domainCreateXml, { xml })
    }

    const arrived: Array<{ type: string; at: number; body: string }> = []
    const sink = createServer(async (request, response) => {
      const at = performance.now()
      const body = Buffer.concat(await Array.fromAsync(request)).toString()
      arrived.push({ type: String(request.headers['ce-type']), at, body })
      response.writeHead(202).end()
    }).listen(0, '127.0.0.1')
    await once(sink, 'listening')
    t.teardown(() => sink.close())

    const file = await bundle(join(import.meta.dirname, '../../agents/hypervisor/main.ts'), join(folder, 'dist'))
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(nowhere))
    const settings = await shipped('hypervisor-agent.yaml')
    const { command, note } = await confine(t, settings)
    const [program, ...args] = [...command, process.execPath, file]
    const agent = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        ...settings.env,
        NODE_NAME: 'bench',
        K_SINK: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`,
        KUBECONFIG: join(folder, 'kubeconfig'),
        LIBVIRT_URI: node.testUri,
        SYSTEM_BUS: 'none',
        STATE_FOLDER: join(folder, 'state'),
        HOST: '127.0.0.1',
        PORT: '0'
      }
    })
    t.teardown(() => agent.kill('SIGKILL'))
    const full = () => arrived.find(({ type, body }) => type.includes('instances.reported') && body.includes('"full":true'))
    const first = await eventually('the first report', async () => full())
    if (JSON.parse(first.body).instances.length !== domains) throw new Error('not all domains were reported')

    const before = cpuSeconds(agent.pid)
    await sleep(idleSeconds * 1000)
    report('hypervisor-agent.cpu', ((cpuSeconds(agent.pid) - before) / idleSeconds) * 100, { note })
    report('hypervisor-agent.resident', await residentMib(agent.pid), { note })

    const [domain] = await virt.domains()
    if (!domain) throw new Error('no domain')
    const took: number[] = []
    for (let n = 0; n < events; n++) {
      const from = arrived.length
      const started = performance.now()
      await virt.call(n % 2 === 0 ? procedures.domainSuspend : procedures.domainResume, { domain })
      const told = await eventually('the event', async () =>
        arrived.slice(from).find(({ type }) => type.includes('domain.changed'))
      )
      took.push(told.at - started)
    }
    for (const p of ['p50', 'p99']) report(`hypervisor-agent.event-to-sink.${p}`, took, { note })

    await virt.close()
    for (const outageSeconds of outages) {
      const from = arrived.length
      node.run('touch /run/libvirt/hold')
      node.kill('KILL')
      await sleep(outageSeconds * 1000)
      node.run('rm /run/libvirt/hold')
      await answering(node.testUri)
      const back = performance.now()
      const restored = await eventually('the connection', async () =>
        arrived.slice(from).find(({ type }) => type.includes('libvirt.restored'))
      )
      report(reconnect(outageSeconds), Math.max(0, restored.at - back), { note }) // it may be there before us
    }
  })
