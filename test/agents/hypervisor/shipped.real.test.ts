// NA-29, NA-30: the agent as the DaemonSet runs it: a bundle, without capabilities, on a root that it cannot write to, and no listener on the node
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { startAgent } from '../../../shared/runtime/agent.ts'
import { hypervisorAgent } from '../../../agents/hypervisor/agent.ts'
import { bundle } from '../../../shared/runtime/bundle.ts'
import { eventually } from '../../servers/eventually.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { agent, broker, hostRoot, kubeconfigOfNobody } from './harness.ts'

t.setTimeout(120_000)
const repo = join(import.meta.dirname, '../../..')
const documents = parseAllDocuments(await readFile(join(repo, 'knative/hypervisor-agent.yaml'), 'utf8')).map(
  document => document.toJS() as { kind: string; spec: any }
)
const pod = documents.find(({ kind }) => kind === 'DaemonSet')?.spec.template.spec
const [container] = pod.containers
const { nodes } = await startLibvirt(t, { hostNetwork: true })
const [node] = nodes as [(typeof nodes)[number]]
const root = await hostRoot(t)
const sink = await broker(t)
const env = {
  NODE_NAME: 'shipped',
  KUBECONFIG: await kubeconfigOfNobody(root),
  K_SINK: sink.url,
  LIBVIRT_URI: node.testUri,
  SYSTEM_BUS: 'none',
  HOST_ROOT: root,
  STATE_FOLDER: join(root, 'state'),
  PKI_FOLDER: join(root, 'pki'),
  HOST: '127.0.0.1',
  PORT: '0'
}

t.test('what the DaemonSet asks for', async t => {
  t.match(pod.tolerations, [{ operator: 'Exists' }], 'NA-30: every taint of a node’s life')
  t.notOk(pod.hostNetwork ?? pod.hostPID ?? pod.hostIPC ?? false, 'NA-29: no listener on the node’s address')
  t.notOk(container.ports.some((port: object) => 'hostPort' in port))
  t.match(container.securityContext, {
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' }
  })
  t.notOk('privileged' in container.securityContext)
  const writable = container.volumeMounts.filter(({ readOnly }: { readOnly?: boolean }) => readOnly !== true)
  t.strictSame(writable.map(({ mountPath }: { mountPath: string }) => mountPath).toSorted(), ['/etc/pki', '/var/lib/drover'])
})

t.test('the bundle works with no more than that', async t => {
  const file = await bundle(join(repo, 'agents/hypervisor/main.ts'), join(root, 'dist'))
  for (const folder of ['state', 'pki']) await mkdir(join(root, folder))
  await chmod(root, 0o755)
  const options: Record<string, string> = Object.fromEntries(
    container.env.flatMap(({ name, value }: { name: string; value?: string }) =>
      /^(?:NODE_OPTIONS|MALLOC_)/.test(name) ? [[name, value]] : []
    )
  )
  // Everything is read-only but the two folders; no capability, and no way to get one. tap puts a hook of its own into NODE_OPTIONS, which
  // writes on exit where nothing can be written.
  const script = `mount --bind $R/state $R/state && mount --bind $R/pki $R/pki && mount -o remount,bind,ro / && mount -o remount,bind,ro /tmp 2> /dev/null
    NODE_OPTIONS="$SHIPPED_OPTIONS" exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs "$@"`
  const child = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', process.execPath, file], {
    env: { PATH: process.env['PATH'], R: root, ...env, ...options, SHIPPED_OPTIONS: String(options['NODE_OPTIONS']) },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface(child.stdout).on('line', line => lines.push(line))
  createInterface(child.stderr).on('line', line => lines.push(line))
  child.on('exit', code => lines.push(`exit ${code}`))
  await sink.seen('instances.reported').catch(err => {
    throw new Error(lines.join('\n'), { cause: err })
  })
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  t.match(status, /CapEff:\s+0+\n/, 'no capability')
  t.match(status, /NoNewPrivs:\s+1/)
  t.match(await readFile(`/proc/${child.pid}/mounts`, 'utf8'), /^\S+ \/ \S+ ro[, ]/m, 'a root that cannot be written to')
  t.strictSame(
    lines.filter(line => /"level":[56]0|EROFS|EPERM|EACCES/.test(line)),
    [],
    'and it misses nothing'
  )
  const state = await eventually('its state', async () => readFile(join(root, 'state/state.json'), 'utf8').catch(() => undefined))
  t.match(JSON.parse(state), { epoch: Number })
  child.kill('SIGTERM')
  const [code] = (await once(child, 'close')) as [number | null]
  t.equal(code, 0, `asked to stop, it ends in good order; its last words:\n${lines.slice(-5).join('\n')}`)
})

t.test('NA-29: plain TCP is refused, unless it was asked for; then the warning stays', async t => {
  const tcp = {
    ...env,
    NODE_NAME: 'plain',
    LIBVIRT_URI: `test+tcp://127.0.0.1:${node.port}/default`,
    STATE_FOLDER: join(root, 'plain')
  }
  const refused = await startAgent(hypervisorAgent, { env: tcp, logs: { write: () => {} } })
  await t.rejects(refused.ended, /neither encrypted nor authenticated.*ALLOW_PLAIN_TCP/)
  await refused.close().catch(() => {}) // it has ended by itself
  const allowed = await agent(t, { ...tcp, ALLOW_PLAIN_TCP: 'true' })
  await sink.seen('instances.reported', ({ data }) => data['host'] === 'plain')
  const metrics = await (await fetch(`${allowed.url}/metrics`)).text()
  t.match(metrics, /^drover_agent_problems [1-9]/m)
})
