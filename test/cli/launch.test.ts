// What needs no cluster: the launcher, and the sentences for those who have none.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { simulatorFileOf } from '../../shared/runtime/simulator.ts'
import { eventually } from '../servers/eventually.ts'
import { drover, launcher } from './terminal.ts'

t.setTimeout(120_000)
const folder = mkdtempSync(join(tmpdir(), 'drover-cli-'))
t.teardown(() => rmSync(folder, { recursive: true }))

const refusals: Array<[name: string, args: string[], env: Record<string, string>, said: RegExp]> = [
  ['no kubeconfig at all', ['get'], {}, /there is no kubeconfig: KUBECONFIG is not set.*`npm start` prints one/],
  ['an empty KUBECONFIG', ['get'], { KUBECONFIG: '' }, /there is no kubeconfig/],
  ['files that are not there', ['get'], { KUBECONFIG: '/nope:/nada' }, /no usable kubeconfig in \/nope:\/nada/],
  ['no simulated fleet', ['sim'], { KUBECONFIG: '' }, /there is no simulated fleet: \S+\/\.kube\/config\.sim\.json/],
  ['an empty standard input', ['validate'], {}, /there is no object in standard input/],
  ['no Machine', ['render'], {}, /there is no Machine/]
]
for (const [name, args, env, said] of refusals)
  t.test(`${name}: a sentence that helps`, async t => {
    const { code, out, err } = await drover(args, env)
    t.equal(code, 2)
    t.equal(out, '')
    t.match(err, said)
    t.equal(err.trim().split('\n').length, 1)
  })

t.test('KUBECONFIG may name several files, as for kubectl: the first that says something wins', async t => {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[],"metadata":{}}')
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cluster = { server: url, 'insecure-skip-tls-verify': true }
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  const base = { apiVersion: 'v1', kind: 'Config' }
  writeFileSync(
    first,
    JSON.stringify({ ...base, 'current-context': 'c', contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }] })
  )
  writeFileSync(
    second,
    JSON.stringify({ ...base, clusters: [{ name: 'c', cluster }], users: [{ name: 'u', user: { token: 't' } }] })
  )
  t.match(await drover(['get'], { KUBECONFIG: `${first}:/nope:${second}` }), { code: 0, out: /There are no hosts yet/ })
})

t.test('the launcher hands on what it is asked to end by', async t => {
  const child = spawn(process.execPath, [launcher, 'validate', '-f', '-'], { stdio: 'pipe', env: { PATH: process.env['PATH'] } })
  t.teardown(() => child.kill('SIGKILL'))
  const children = async () => (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim() || undefined
  const inner = Number(await eventually('the program behind it', children))
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  t.strictSame(await exited, [143, null])
  t.throws(() => process.kill(inner, 0), { code: 'ESRCH' }, 'nothing is left running')
})

t.test('its version, and where the simulator of a kubeconfig is found', async t => {
  t.match(await drover(['--version']), { code: 0, out: /^\d+\.\d+\.\d+\n$/ })
  t.equal(simulatorFileOf('/tmp/drover-x/kubeconfig'), '/tmp/drover-x/sim.json')
  t.equal(simulatorFileOf('my.db.kubeconfig'), 'my.db.sim.json')
  t.equal(simulatorFileOf('/home/jo/.kube/config'), '/home/jo/.kube/config.sim.json')
})
