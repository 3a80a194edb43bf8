import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { connect, Node } from '../../shared/kube/index.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { start } from './start.ts'

t.setTimeout(120_000)
const folder = mkdtempSync(join(tmpdir(), 'drover-start-'))
t.teardown(() => rmSync(folder, { recursive: true }))
t.test('the fleet: Nodes become Hypervisors, each event is a line, and Ctrl-C leaves nothing', async t => {
  const drover = start(t, '--hosts', '6', '--zones', '2', '--log', 'text', '--functions', 'hypervisor,dead-letters')
  const [, kubeconfig = ''] = await drover.says(/export KUBECONFIG=(\S+)/)
  t.equal(statSync(kubeconfig).mode & 0o777, 0o600)
  await drover.says(/fleet +6 hosts in 2 zones with 30 servers \(seed 1\)/)
  await drover.says(/hypervisor +node\.changed node003-zone-b {2}→ done {2}[\d.]+ ms/)
  const kube = await connect({ manager: 'test', kubeconfig })
  const ready = await eventually('all Hypervisors', async () => {
    const { items } = await kube.list(Hypervisor)
    return items.length === 6 && items.every(({ status }) => status?.phase === 'Registering') && items
  })
  t.equal(ready.find(({ metadata }) => metadata.name === 'node002-zone-b')?.status?.internalIp, '10.2.0.2')
  await kube.delete(Node, { name: 'node001-zone-a' })
  await eventually('the garbage collector', async () => (await kube.find(Hypervisor, 'node001-zone-a')) === undefined)
  kube.close()
  t.equal(await drover.end('SIGINT'), 0)
  t.notOk(existsSync(dirname(kubeconfig)))
})

t.test('the page lives when its first host is on it; a second npm start beside the first has one of its own', async t => {
  const lives = /^The page lives after [\d.]+ s: (http:\S+)$/m
  const options = ['--hosts', '2', '--vms', '0', '--functions', 'hypervisor,console']
  const both = [start(t, ...options), start(t, ...options)]
  const pages = await Promise.all(both.map(async one => (await one.says(lives))[1] ?? ''))
  t.equal(new Set(pages).size, 2)
  for (const page of pages) {
    t.equal((await fetch(page)).status, 200)
    t.match(await (await fetch(`${page}/api/hosts/node001-zone-a`)).json(), { host: { name: 'node001-zone-a', zone: 'zone-a' } })
  }
  for (const one of both) t.equal(await one.end('SIGINT'), 0)
})

t.test('what kill -9 leaves behind is gone after the next start; what others have is not touched', async t => {
  const options = ['--hosts', '1', '--vms', '0', '--functions', 'hypervisor']
  const [killed, lives] = [start(t, ...options), start(t, ...options)]
  const folderOf = async (one: typeof killed) => dirname((await one.says(/export KUBECONFIG=(\S+)/))[1] ?? '')
  const [left, used] = [await folderOf(killed), await folderOf(lives)]
  await killed.says(/fleet +1 hosts/)
  await killed.end('SIGKILL')
  t.ok(existsSync(left))
  const next = start(t, '--empty', '--functions', 'hypervisor')
  await next.says(/Drover is ready/)
  await eventually('the folder of the one that was killed goes', async () => !existsSync(left))
  t.ok(existsSync(used), 'of a process that lives')
  t.ok(existsSync(folder), 'without a mark')
  for (const one of [lives, next]) t.equal(await one.end('SIGTERM'), 0)
})

t.test('--state keeps objects over kill -9, with the same kubeconfig', async t => {
  const state = join(folder, 'state')
  const first = start(t, '--state', state, '--hosts', '6', '--zones', '2', '--log', 'text', '--functions', 'hypervisor')
  await first.says(/hypervisor +hypervisor\.changed node003-zone-b/)
  await first.end('SIGKILL')
  const second = start(t, '--state', state, '--empty', '--log', 'json', '--functions', 'hypervisor')
  const [, kubeconfig = ''] = await second.says(/export KUBECONFIG=(\S+)/)
  t.equal(kubeconfig, `${state}.kubeconfig`)
  const kube = await connect({ manager: 'test', kubeconfig })
  t.equal((await kube.list(Hypervisor)).items.length, 6)
  kube.close()
  const [line] = await second.says(/^\{.*"outcome":"done".*\}$/m)
  t.match(JSON.parse(line), { name: 'hypervisor', status: 204, ms: Number })
  t.equal(await second.end('SIGTERM'), 0)
})
