// NA-9: libvirtd is killed after the first, the second, … the last answer that the agent has from it, and no domain is ever reported as gone.
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect as dial, createServer } from 'node:net'
import { join } from 'node:path'
import { connect as connectLibvirt, procedures } from 'node-libvirt'
import t from 'tap'
import { create } from '../../node-libvirt/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { answering, startLibvirt } from '../../servers/libvirt.ts'
import { agent, broker, hostRoot, kubeconfigOfNobody } from './harness.ts'

t.setTimeout(300_000)
const [domains, running, kills] = [100, 2, 20]
const { dir, nodes } = await startLibvirt(t, { nodes: [{ name: 'a', restart: true }] })
const [node] = nodes as [(typeof nodes)[number]]
const virt = await connectLibvirt(node.uri)
// Most are defined and not running: they are on disk, so that every new daemon has them all, and a hundred QEMUs need not run
const xml = (at: number) =>
  `<domain type='qemu'><name>d${at}</name><memory unit='MiB'>64</memory><vcpu>1</vcpu><os><type arch='x86_64' machine='pc'>hvm</type></os></domain>`
await Promise.all(Array.from({ length: domains - running }, (_, at) => virt.call(procedures.domainDefineXml, { xml: xml(at) })))
for (let at = 0; at < running; at++) await create(virt, `running-${at}`, { flags: procedures.START.paused })
await virt.close()

/** Between the agent and libvirtd, for one connection: counts the answers, and when it has passed on so many, `cut` is called. */
const door = join(dir, 'door')
async function open(limit: number, cut: () => void) {
  const counted = { answers: 0 }
  const server = createServer(near => {
    server.close() // removes the socket too: the agent waits until there is one again
    const far = dial(node.socket)
    for (const socket of [near, far]) socket.on('error', () => {})
    near.pipe(far)
    far.on('close', () => near.destroy())
    near.on('close', () => far.destroy())
    let rest: Buffer = Buffer.alloc(0)
    far.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      // each message begins with its length (RFC 4506: 4 bytes, the highest first), which counts itself
      for (; rest.length >= 4 && rest.length >= rest.readUInt32BE(); rest = rest.subarray(rest.readUInt32BE())) {
        if (counted.answers === limit) return
        near.write(rest.subarray(0, rest.readUInt32BE()))
        if (++counted.answers === limit) cut()
      }
    })
    if (limit === 0) cut()
  })
  await rm(door, { force: true })
  server.listen(door)
  await once(server, 'listening')
  return counted
}

const sink = await broker(t)
const root = await hostRoot(t)
const reports = () => sink.told.filter(({ type, data }) => type === 'instances.reported' && data['full'])
const first = await open(Infinity, () => {})
await agent(t, {
  NODE_NAME: 'restarts',
  KUBECONFIG: await kubeconfigOfNobody(root),
  K_SINK: sink.url,
  LIBVIRT_URI: `qemu+unix:///system?socket=${door}`,
  HOST_ROOT: root,
  STATE_FOLDER: join(root, 'state')
})

t.test(`NA-9: killed at ${kills} points of a connection, no false end`, async t => {
  await eventually('the first report', async () => reports().length === 1)
  const whole = first.answers
  node.kill('KILL')
  for (let at = 0; at < kills; at++) {
    await answering(node.uri)
    const { promise: killed, resolve } = Promise.withResolvers<void>()
    await open(Math.round((at * whole) / (kills - 1)), () => {
      node.kill('KILL')
      resolve()
    })
    await killed
  }
  await answering(node.uri)
  const before = reports().length
  await open(Infinity, () => {})
  await eventually('a last report', async () => reports().length > before)
  const gone = sink.told.filter(
    ({ type, data }) =>
      /^domain\.(?:stopped|crashed)$/.test(type) ||
      data['event'] === 'undefined' ||
      (data['instances'] ?? []).some((one: any) => one.state === 'gone')
  )
  t.strictSame(gone, [], `of ${sink.told.length} events; a connection has ${whole} answers`)
  t.strictSame(
    reports().filter(({ data }) => data['instances'].length !== domains),
    [],
    'every report is whole'
  )
  const active = (data: any): number => data.instances.filter((one: any) => one.active).length
  t.strictSame(
    reports().filter(({ data }) => active(data) !== running),
    [],
    'and those that run, run in each'
  )
  t.ok(reports().length < kills, `${reports().length} reports: most connections broke before the agent had listed everything`)
  t.strictSame(sink.malformed, [])
  const ids = sink.told.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
})
