import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
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
writeFileSync(join(folder, 'broken'), 'not: [a kubeconfig')
const nobody = {
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }]
}
writeFileSync(
  join(folder, 'nobody'),
  JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...nobody, users: [{ name: 'u', user: {} }], 'current-context': 'c' })
)

t.test('the demo: Nodes become Hypervisors, each event is a line, and Ctrl-C leaves nothing', async t => {
  const drover = start(t, '--demo')
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
  const first = start(t, '--state', state, '--demo')
  await first.says(/hypervisor +hypervisor\.changed node003-zone-b/)
  await first.end('SIGKILL')
  const second = start(t, '--state', state, '--log', 'json')
  const [, kubeconfig = ''] = await second.says(/export KUBECONFIG=(\S+)/)
  t.equal(kubeconfig, `${state}.kubeconfig`)
  const kube = await connect({ manager: 'test', kubeconfig })
  t.equal((await kube.list(Hypervisor)).items.length, 6)
  kube.close()
  const [line] = await second.says(/^\{.*"outcome":"done".*\}$/m)
  t.match(JSON.parse(line), { name: 'hypervisor', status: 204, ms: Number })
  t.equal(await second.end('SIGTERM'), 0)
})

const taken = createServer().listen(0, '127.0.0.1')
t.teardown(() => taken.close())
await new Promise(resolve => taken.once('listening', resolve))
const { port } = taken.address() as { port: number }

const refusals: Array<[name: string, args: string[], said: RegExp]> = [
  ['an unknown option', ['--nope'], /Unknown option '--nope'/],
  ['a port in use', ['--port', String(port)], /EADDRINUSE.*choose another port with --port/],
  ['a port that is none', ['--port', 'high'], /--port is a number, not high/],
  ['a kubeconfig that is not there', ['--kubeconfig', join(folder, 'absent')], /absent/],
  ['a kubeconfig that is broken', ['--kubeconfig', join(folder, 'broken')], /broken/],
  ['a cluster that does not answer', ['--kubeconfig', join(folder, 'nobody')], /no answer from the API server.*ECONNREFUSED/],
  ['a function that does not exist', ['--functions', 'hypervisor,nope'], /there is no function nope; there are .*hypervisor/],
  ['a log format that does not exist', ['--log', 'xml'], /--log is text or json, not xml/]
]
for (const [name, args, said] of refusals) {
  t.test(`${name}: one line that says what to do`, async t => {
    const drover = start(t, ...args)
    t.equal(await drover.exited, 1)
    t.match(drover.output(), said)
    t.equal(drover.output().trim().split('\n').length, 1)
  })
}

t.test('--help', async t => {
  const drover = start(t, '--help')
  t.equal(await drover.exited, 0)
  for (const option of ['--demo', '--kubeconfig', '--state', '--port', '--functions', '--log']) t.match(drover.output(), option)
})
