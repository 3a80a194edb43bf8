// The real libvirtd asks polkit about a client that is not root. The authority is a stand-in on a real bus: what it is asked, and what
// libvirtd makes of its answer, are real.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { connect, procedures as p } from 'node-libvirt'
import { startBus } from '../servers/dbus.ts'
import { startLibvirt } from '../servers/libvirt.ts'
import { libvirtNeeded, open } from './real.ts'

await libvirtNeeded()
const nobody = '65534'
const bus = await startBus(t)
const { dir, nodes } = await startLibvirt(t, {
  nodes: [
    {
      name: 'a',
      conf: 'auth_unix_rw = "polkit"\nunix_sock_rw_perms = "0777"',
      before: `export DBUS_SYSTEM_BUS_ADDRESS=${bus.address}`
    }
  ]
})
const [node] = nodes
if (!node) throw new Error('no node')
await chmod(dir, 0o755)
await mkdir(join(dir, 'relay'))
await chmod(join(dir, 'relay'), 0o777)
const path = join(dir, 'relay', 'sock')
const asNobody = ['--pdeathsig', 'KILL', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
const relay = spawn('setpriv', asNobody.concat('/usr/bin/python3', '-', path, node.socket), {
  stdio: ['pipe', 'pipe', 'inherit']
})
t.teardown(() => relay.kill('SIGKILL'))
relay.stdin.end(await readFile(join(import.meta.dirname, '../servers/libvirt/relay.py'))) // nobody may not be allowed to read it
await once(relay.stdout, 'data')
const uri = `test+unix:///default?socket=${path}`

t.test('polkit says yes: let in, by a question about us', async t => {
  const virt = await open(t, uri)
  t.equal(await virt.call(p.connectGetHostname), 'a')
  t.match((await bus.state()).asked, [{ action: 'org.libvirt.unix.manage', uid: Number(nobody) }])
})

t.test('polkit says no: an error that no other attempt mends', async t => {
  await bus.polkit(false)
  await t.rejects(connect(uri), { name: 'LibvirtError', code: 'auth', retryable: false })
  t.equal((await bus.state()).asked.length, 2)
})

t.test('root is let in without a question', async t => {
  await open(t, node.testUri)
  t.equal((await bus.state()).asked.length, 2)
})
