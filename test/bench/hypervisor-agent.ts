import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, procedures } from 'node-libvirt'
import { bundle } from '../../shared/runtime/bundle.ts'
import { eventually } from '../servers/eventually.ts'
import { answering, prepare, startLibvirt } from '../servers/libvirt.ts'
import { shipped } from './lib/shipped.ts'
import type { Report } from './report.ts'

// The agent as it is shipped, a bundle in a process of its own, on a real libvirtd: 200 domains of libvirt's test driver, a sink that takes
// everything, no API server (it waits for one). Latency is from before the call that makes libvirt tell to the sink's receipt.
export const name = 'hypervisor-agent'

const domains = 200
const events = 500
const outages = [1, 20] // the second is longer than the way of the back-off to its longest wait
const idleSeconds = Number(process.env['IDLE_SECONDS'] ?? 300) // 5 min: the goal's own

const nowhere = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 'none' } }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'c'
}

async function figures(pid: number): Promise<{ rssMB: number; cpuSeconds: number }> {
  const [status, stat] = await Promise.all(['status', 'stat'].map(file => readFile(`/proc/${pid}/${file}`, 'utf8')))
  const [, , , , , , , , , , , user, system] = (stat ?? '').slice((stat ?? '').lastIndexOf(')')).split(' ')
  return { rssMB: Number(/VmRSS:\s+(\d+)/.exec(status ?? '')?.[1]) / 1024, cpuSeconds: (Number(user) + Number(system)) / 100 }
}

export async function run(report: Report): Promise<void> {
  const prepared = await prepare()
  if (!prepared.ok) throw new Error(prepared.reason)
  const ends: Array<() => unknown> = []
  try {
    const { nodes } = await startLibvirt({ teardown: end => void ends.unshift(end) }, { nodes: [{ name: 'a', restart: true }] })
    const [node] = nodes
    if (!node) throw new Error('no libvirtd')
    const virt = await connect(node.testUri)
    const folder = await mkdtemp(join(tmpdir(), 'agent-'))
    ends.unshift(() => rm(folder, { recursive: true, force: true }))
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
    ends.unshift(() => sink.close())

    const file = await bundle(join(import.meta.dirname, '../../agents/hypervisor/main.ts'), join(folder, 'dist'))
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(nowhere))
    const agent = spawn(process.execPath, [file], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...(await shipped('hypervisor-agent.yaml')).env,
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
    ends.unshift(() => agent.kill('SIGKILL'))
    const full = () => arrived.find(({ type, body }) => type.includes('instances.reported') && body.includes('"full":true'))
    const first = await eventually('the first report', async () => full())
    if (JSON.parse(first.body).instances.length !== domains) throw new Error('not all domains were reported')

    const before = await figures(agent.pid ?? 0)
    await sleep(idleSeconds * 1000)
    const after = await figures(agent.pid ?? 0)
    report({ name: `rss_${domains}_domains`, ours: after.rssMB, goal: { atMost: 90 }, unit: 'MB' })
    report({
      name: `idle_cpu_${idleSeconds}s`,
      ours: ((after.cpuSeconds - before.cpuSeconds) / idleSeconds) * 100,
      goal: { atMost: 1 },
      unit: '%'
    })

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
    took.sort((a, b) => a - b)
    report({ name: 'event_to_sink_p50', ours: took[Math.floor(events * 0.5)] ?? 0, unit: 'ms' })
    report({ name: 'event_to_sink_p99', ours: took[Math.floor(events * 0.99)] ?? 0, goal: { atMost: 50 }, unit: 'ms' })

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
      const ours = Math.max(0, restored.at - back) // it may be there before us
      report({ name: `reconnect_after_${outageSeconds}s_outage`, ours, goal: { atMost: 1000 }, unit: 'ms' })
    }
  } finally {
    for (const end of ends) await end()
  }
}
