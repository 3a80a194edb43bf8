// `drover get`, `describe`, `drain` and `undrain` as a person runs them: a process, against a real API server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { connect } from '../../shared/kube/index.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { asServiceAccount } from '../servers/identity.ts'
import { ownKubernetes } from '../servers/kubernetes.ts'
import { condition } from '../view/fixtures.ts'

t.setTimeout(300_000)
const api = await ownKubernetes(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig, timeoutMs: 60_000 })
t.teardown(() => admin.close())
const launcher = join(import.meta.dirname, '../../shared/cli/drover.js')

const compiled = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }

async function drover(args: string[], env: Record<string, string> = { KUBECONFIG: api.kubeconfig }) {
  const child = spawn(process.execPath, [launcher, ...args], { stdio: 'pipe', env: { ...compiled, ...env } })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit') as Promise<[number]>])
  return { code, out, err }
}

const labels = { 'topology.kubernetes.io/zone': 'z1', 'kubernetes.metal.cloud.sap/bb': 'bb1' }
for (const name of ['alpha', 'beta']) {
  await admin.create(Hypervisor, { metadata: { name, labels }, spec: { lifecycleEnabled: true } })
  await admin.patch(
    Hypervisor,
    { name },
    { status: { numInstances: 2, conditions: [condition('Ready', 'True', 'Ready', 'The host takes servers.')] } },
    { subresource: 'status' }
  )
}

t.test('get: the fleet in the words of the page, as text, wide and data', async t => {
  const { code, out } = await drover(['get'])
  t.equal(code, 0)
  t.match(out, /^HOST +ZONE +STATE +VMS\n/)
  t.match(out, /^alpha +z1 +Ready +2 +2 VMs$/m)
  t.notOk(out.includes('\u001B'), 'no colour in a pipe')
  t.match((await drover(['get', 'alpha', '-o', 'wide'])).out, /^alpha +z1 +Ready +2 +bb1 +0 % +healthy/m)
  const data = JSON.parse((await drover(['get', '--output', 'json'])).out)
  t.match(data, [{ name: 'alpha', word: 'Ready', vms: 2 }, { name: 'beta' }])
  t.match((await drover(['get', 'beta', '-o', 'yaml'])).out, /^- name: beta$/m)
})

t.test('describe: why, and since when', async t => {
  const { code, out } = await drover(['describe', 'alpha'])
  t.equal(code, 0)
  t.match(out, /^alpha is Ready since .+\. The host takes servers\.$/m)
  t.match(out, /Conditions\n.*\n +Ready +True/)
})

t.test('drain: asks for maintenance, follows it to its end, and comes back', async t => {
  const draining = drover(['drain', 'alpha', '--reason', 'new DIMM', '--watch'])
  await eventually('the wish', async () => (await admin.find(Hypervisor, 'alpha'))?.spec.maintenance === 'manual')
  t.equal((await admin.find(Hypervisor, 'alpha'))?.spec.maintenanceReason, 'new DIMM')
  const name = 'alpha-drain'
  await admin.create(Eviction, { metadata: { name }, spec: { hypervisor: 'alpha', reason: 'new DIMM' } })
  const play = (status: object) => admin.patch(Eviction, { name }, { status }, { subresource: 'status' })
  await play({ progress: { total: 2, done: 1, running: 1, waiting: 0 } })
  await play({ progress: { total: 2, done: 2, running: 0, waiting: 0 }, verdict: 'Succeeded' })
  const { code, out } = await draining
  t.equal(code, 0)
  t.match(out, /alpha is to be drained: new DIMM\n/)
  t.match(out, /\[#{24}\] 100 % Succeeded/)
  t.match(await drover(['drain', 'alpha']), { code: 0, out: /being drained already/ })
  t.match(await drover(['undrain', 'alpha']), { code: 0, out: /goes back into service/ })
  t.equal((await admin.find(Hypervisor, 'alpha'))?.spec.maintenance, '')
  t.match(await drover(['undrain', 'alpha']), { code: 0, out: /is in service/ })
})

t.test('drain: a VM that cannot move is named, and the code says so', async t => {
  const draining = drover(['drain', 'beta', '--watch'])
  await eventually('the wish', async () => (await admin.find(Hypervisor, 'beta'))?.spec.maintenance === 'manual')
  await admin.create(Eviction, { metadata: { name: 'beta-drain' }, spec: { hypervisor: 'beta', reason: 'x' } })
  const instances = [{ id: '1', name: 'web', state: 'Blocked', reason: 'NoValidHost', message: 'no host has room' }]
  const status = { progress: { total: 1, done: 0, failed: 1 }, instances, verdict: 'Failed' }
  await admin.patch(Eviction, { name: 'beta-drain' }, { status }, { subresource: 'status' })
  const { code, out } = await draining
  t.equal(code, 1)
  t.match(out, /1 of 1 VM cannot move: web: no host has room/)
})

t.test('drain --dry-run: the plan is shown, and leaves nothing behind', async t => {
  const planning = drover(['drain', 'beta', '--dry-run'])
  const plan = await eventually('the order', async () => {
    const { items } = await admin.list(Eviction, {})
    return items.find(({ spec }) => spec?.dryRun)
  })
  const instances = [{ id: '1', name: 'web', state: 'Waiting', destination: 'alpha' }]
  const { name } = plan.metadata
  await admin.patch(Eviction, { name }, { status: { instances, verdict: 'Planned' } }, { subresource: 'status' })
  const { code, out } = await planning
  t.equal(code, 0)
  t.match(out, /^web +Waiting +→ alpha$/m)
  t.equal(await admin.find(Eviction, name), undefined)
})

t.test('each error is a sentence that helps', async t => {
  t.match(await drover(['describe', 'alph']), { code: 2, err: /no host alph; did you mean alpha\?/ })
  t.match(await drover(['get', 'nosuch']), { code: 2, err: /no host nosuch/ })
  t.match(await drover(['get', '--kubeconfig', '/nonexistent']), { code: 2, err: /no usable kubeconfig.*--kubeconfig/ })
  const kubeconfig = await asServiceAccount(t, api, 'dead-letters.yaml', 'dead-letters')
  t.match(await drover(['get'], { KUBECONFIG: kubeconfig }), { code: 2, err: /forbidden.*ask for the right/ })
  t.match(await drover(['gett']), { code: 1, err: /Did you mean get/ })
  const { out } = await drover(['--help'])
  for (const command of ['get', 'describe', 'drain', 'undrain', 'validate']) t.match(out, new RegExp(`^ +${command}`, 'm'))
})
