import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../servers/eventually.ts'
import { startOvsdb } from '../servers/ovs.ts'
import { output } from '../servers/ovs/daemon.ts'
import { ovsNeeded } from './real.ts'

await ovsNeeded()
const root = join(import.meta.dirname, '..', '..')

t.test("the README's example runs as it stands", async t => {
  const readme = await readFile(join(root, 'shared/ovsdb-client/README.md'), 'utf8')
  const [, example = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
  const server = await startOvsdb(t, { schema: '/usr/share/openvswitch/vswitch.ovsschema' })
  const vsctl = (...command: string[]) => output('ovs-vsctl', [`--db=${server.unix}`, '--no-wait', ...command])
  await vsctl('init')
  await vsctl('add-br', 'br0')

  const child = spawn(
    process.execPath,
    ['--conditions=drover', '--input-type=module-typescript', '-e', example, 'example', server.unix],
    { cwd: root }
  )
  t.teardown(() => child.kill())
  let said = ''
  child.stdout.on('data', chunk => (said += chunk))
  child.stderr.on('data', chunk => (said += chunk))
  const until = (text: string) => eventually(text, async () => said === text)
  await until('br0 no state\n')
  await server.stop()
  await until('br0 no state\nconnection lost\n')
  await server.start()
  await vsctl('del-br', 'br0')
  await until('br0 no state\nconnection lost\nbr0 removed\n')
  t.equal(child.exitCode, null, 'still running')
})
