import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { connect, Node } from '../../shared/kube/index.ts'
import { loadDocuments } from '../../shared/local/load.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { eventually } from '../servers/eventually.ts'
import { start } from './start.ts'

t.setTimeout(120_000)
const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'drover-start-'))
t.teardown(() => rmSync(folder, { recursive: true }))
t.test('the demo: Nodes become Hypervisors, each event is a line, and Ctrl-C leaves nothing', async t => {
  const drover = start(t, '--demo', '--functions', 'hypervisor,dead-letters')
  const [, kubeconfig = ''] = await drover.says(/export KUBECONFIG=(\S+)/)
  t.equal(statSync(kubeconfig).mode & 0o777, 0o600)
  await drover.says(/demo: applied node001-zone-a/)
  await drover.says(/hypervisor +node\.changed node003-zone-b {2}→ done {2}[\d.]+ ms/)
  const kube = await connect({ manager: 'test', kubeconfig })
  const ready = await eventually('all Hypervisors', async () => {
    const { items } = await kube.list(Hypervisor)
    return items.length === 6 && items.every(({ status }) => status?.phase === 'Registering') && items
  })
  t.equal(ready.find(({ metadata }) => metadata.name === 'node002-zone-b')?.status?.internalIp, '10.0.2.2')
  await kube.delete(Node, { name: 'node001-zone-a' })
  await eventually('the garbage collector', async () => (await kube.find(Hypervisor, 'node001-zone-a')) === undefined)
  kube.close()
  t.equal(await drover.end('SIGINT'), 0)
  t.notOk(existsSync(dirname(kubeconfig)))
})

t.test('--state keeps objects over kill -9, with the same kubeconfig', async t => {
  const state = join(folder, 'state')
  const first = start(t, '--state', state, '--demo', '--functions', 'hypervisor')
  await first.says(/hypervisor +hypervisor\.changed node003-zone-b/)
  await first.end('SIGKILL')
  const second = start(t, '--state', state, '--log', 'json', '--functions', 'hypervisor')
  const [, kubeconfig = ''] = await second.says(/export KUBECONFIG=(\S+)/)
  t.equal(kubeconfig, `${state}.kubeconfig`)
  const kube = await connect({ manager: 'test', kubeconfig })
  t.equal((await kube.list(Hypervisor)).items.length, 6)
  kube.close()
  const [line] = await second.says(/^\{.*"outcome":"done".*\}$/m)
  t.match(JSON.parse(line), { name: 'hypervisor', status: 204, ms: Number })
  t.equal(await second.end('SIGTERM'), 0)
})

t.test('every function runs, under its own role; webhooks and routes reach them', async t => {
  const wired = (await loadDocuments('knative')).map(({ doc }) => doc as { kind: string; metadata: { name: string } })
  const expected = readdirSync(join(root, 'functions')).filter(
    name =>
      existsSync(join(root, 'functions', name, 'handler.ts')) &&
      wired.some(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
  )
  const drover = start(t)
  const [, running = ''] = await drover.says(/^ {2}functions +(.+)$/m)
  t.same(running.split(', '), expected.sort())
  const [, kubeconfig = ''] = await drover.says(/export KUBECONFIG=(\S+)/)
  const kube = await connect({ manager: 'test', kubeconfig })
  const network = { metadata: { name: 'both', namespace: 'default' }, spec: { bridge: { name: 'br0' }, podNetwork: true } }
  await t.rejects(kube.create(NetworkConfiguration, network as never), /bridge|podNetwork/, 'NC1')
  kube.close()
  const [, admit = ''] = await drover.says(/admission +(http:\S+\/admit)/)
  t.equal((await fetch(admit)).status, 405, 'reviews come by POST')
  const own = await connect({ manager: 'test', kubeconfig: join(dirname(kubeconfig), 'hypervisor.kubeconfig') })
  await t.rejects(own.delete(Node, { name: 'n' }), { code: 'Forbidden' }, 'no more than its role')
  t.ok((await own.list(Node)).items)
  own.close()
  t.equal(await drover.end('SIGTERM'), 0)
})
