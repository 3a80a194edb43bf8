// NA-9: libvirtd is killed and started again fifty times under a hundred domains, and not one of them is ever told to be gone.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { connect as connectLibvirt, procedures } from 'node-libvirt'
import t from 'tap'
import { create } from '../../node-libvirt/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { agent, broker, hostRoot, kubeconfigOfNobody } from './harness.ts'

t.setTimeout(300_000)
const [domains, running, kills] = [100, 4, 50]
const { nodes } = await startLibvirt(t, { nodes: [{ name: 'a', restart: true }] })
const [node] = nodes as [(typeof nodes)[number]]
const virt = await connectLibvirt(node.uri)
// Most are defined and not running: they are on disk, so that every new daemon has them all, and a hundred QEMUs need not run
const xml = (at: number) =>
  `<domain type='qemu'><name>d${at}</name><memory unit='MiB'>64</memory><vcpu>1</vcpu><os><type arch='x86_64' machine='pc'>hvm</type></os></domain>`
await Promise.all(Array.from({ length: domains - running }, (_, at) => virt.call(procedures.domainDefineXml, { xml: xml(at) })))
for (let at = 0; at < running; at++) await create(virt, `running-${at}`, { flags: procedures.START.paused })
await virt.close()

const sink = await broker(t)
const root = await hostRoot(t)
await agent(t, {
  NODE_NAME: 'restarts',
  KUBECONFIG: await kubeconfigOfNobody(root),
  K_SINK: sink.url,
  LIBVIRT_URI: node.uri,
  HOST_ROOT: root,
  STATE_FOLDER: join(root, 'state')
})

t.test('NA-9: fifty kills, no false end', async t => {
  const epochs = () =>
    new Set(
      sink.told
        .filter(({ type, data }) => type === 'instances.reported' && data['full'])
        .map(({ data }) => data['epoch'] as number)
    )
  await eventually('the first report', async () => epochs().size === 1)
  // Beside the agent, not from its process: every second daemon is killed after the agent has listed everything, the others wherever they are
  const run = dirname(node.socket)
  node.run(`(n=0; last=; seen=; while [ $n -lt ${kills} ]; do
    p=$(cat /run/libvirt/libvirtd.pid)
    if [ "$p" = "$last" ]; then sleep 0.02; continue; fi
    if [ $((n % 2)) = 0 ]; then while [ "$(cat /run/libvirt/listed)" = "$seen" ]; do sleep 0.02; done; else sleep 0.$((n % 10)); fi
    now=$(cat /run/libvirt/listed)
    if kill -9 $p; then last=$p; seen=$now; n=$((n+1)); echo $n > /run/libvirt/kills; fi; done) > /dev/null 2>&1 &`)
  const killed = async () => Number(await readFile(join(run, 'kills'), 'utf8').catch(() => '0'))
  await eventually(
    `${kills} kills`,
    async () => {
      await writeFile(join(run, 'listed.new'), `${epochs().size}\n`)
      await rename(join(run, 'listed.new'), join(run, 'listed'))
      return (await killed()) === kills
    },
    200_000
  )
  const epoch = Math.max(...epochs())
  await eventually('a last report', async () =>
    sink.find('instances.reported', ({ data }) => data['full'] === true && data['epoch'] >= epoch)
  )
  const gone = sink.told.filter(
    ({ type, data }) =>
      /^domain\.(?:stopped|crashed)$/.test(type) ||
      data['event'] === 'undefined' ||
      (data['instances'] ?? []).some((one: any) => one.state === 'gone')
  )
  t.strictSame(gone, [], `of ${sink.told.length} events of ${epochs().size} connections`)
  const reports = sink.told.filter(({ type, data }) => type === 'instances.reported' && data['full'])
  t.strictSame(
    reports.filter(({ data }) => data['instances'].length !== domains),
    [],
    'every report is whole'
  )
  const active = (data: any): number => data.instances.filter((one: any) => one.active).length
  t.strictSame(
    reports.filter(({ data }) => active(data) !== running),
    [],
    'and those that run, run in each'
  )
  t.ok(epochs().size >= kills / 2, `${epochs().size} connections listed everything; the other daemons were killed before`)
  t.strictSame(sink.malformed, [])
  const ids = sink.told.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
})
