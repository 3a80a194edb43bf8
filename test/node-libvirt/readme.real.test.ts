import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startLibvirt } from '../servers/libvirt.ts'
import { libvirtNeeded } from './real.ts'
import { until } from './until.ts'

await libvirtNeeded()
const root = join(import.meta.dirname, '..', '..')

t.test("the README's example runs as it stands", async t => {
  const readme = await readFile(join(root, 'shared/node-libvirt/README.md'), 'utf8')
  const [, example = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
  t.ok(example.trim().split('\n').length <= 15, 'fifteen lines')
  const [node] = (await startLibvirt(t, { nodes: [{ name: 'a', restart: true }] })).nodes
  if (!node) throw new Error('no node')

  const child = spawn(
    process.execPath,
    ['--conditions=drover', '--input-type=module-typescript', '-e', example, 'example', node.testUri],
    { cwd: root }
  )
  t.teardown(() => child.kill())
  let said = ''
  child.stdout.on('data', chunk => (said += chunk))
  child.stderr.on('data', chunk => (said += chunk))
  await until(() => said.includes('test running'))
  t.match(said, /^libvirt \d+\.\d+\.\d+\ntest running\n$/)
  node.virsh(`-c '${node.testUri}' suspend test`)
  await until(() => said.endsWith('test suspended paused\n'))
  node.kill('KILL')
  await until(() => /connection lost\nlibvirt .*\ntest running\n$/.test(said))
  t.equal(child.exitCode, null, 'still running')
})
