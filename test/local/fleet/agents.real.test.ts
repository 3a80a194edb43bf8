// The contract of the agents on a real libvirtd with real guests and on a real Open vSwitch; see agents.test.ts for the simulated ones.
import { join } from 'node:path'
import { procedures } from 'node-libvirt'
import t from 'tap'
import { agent, broker, hostRoot, kubeconfigOfNobody } from '../../agents/hypervisor/harness.ts'
import { startOvsAgent, startSink } from '../../agents/ovs/lab.ts'
import { create, open } from '../../node-libvirt/real.ts'
import { ovsNeeded } from '../../ovsdb-client/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { diskXml, writeGuestImage } from '../../servers/libvirt/guest.ts'
import { startOvsLab } from '../../servers/ovs.ts'
import { bondAgainstSwitch, ovnOnTop } from '../../functions/ha/cables.ts'
import { hypervisorAgentContract, type LibvirtHost, ovsAgentContract } from './agent-contract.ts'

await ovsNeeded()
t.setTimeout(300_000)

t.test('a real libvirtd', async t => {
  const { dir, nodes, run } = await startLibvirt(t, { nodes: [{ name: 'a', restart: true }, { name: 'b' }] })
  const [a, b] = nodes as [(typeof nodes)[number], (typeof nodes)[number]]
  const sink = await broker(t)
  for (const [name, node] of Object.entries({ a, b })) {
    const root = await hostRoot(t)
    await agent(t, {
      NODE_NAME: name,
      KUBECONFIG: await kubeconfigOfNobody(root),
      K_SINK: sink.url,
      LIBVIRT_URI: node.uri,
      HOST_ROOT: root,
      STATE_FOLDER: join(root, 'state'),
      HEARTBEAT: '200ms'
    })
  }
  const virt = await open(t, a.uri)
  const slot = "<address type='pci' domain='0x0' bus='0x0' slot='0x5' function='0x0'/>"
  // as a driver would start it: the lock and the time in its configuration space
  const program = ['o /w 0xcf8 0x80002860', 'o /h 0xcfc 0x0007', 'o /w 0xcf8 0x80002868', 'o /b 0xcfc 0x02']
  const host: LibvirtHost = {
    name: 'a',
    target: 'b',
    uri: a.uri,
    withWatchdog: (name, action) =>
      create(virt, name, {
        devices: `<watchdog model='i6300esb' action='${action}'>${slot}</watchdog>`,
        flags: procedures.START.paused
      }),
    async fireWatchdog(guest) {
      a.virsh(`'${program.map(command => `qemu-monitor-command ${guest.name} --hmp "${command}"`).join('; ')}'`)
      await virt.call(procedures.domainResume, { domain: guest })
    },
    withFullDisk(name) {
      run('nbdkit -i 127.0.0.1 -p 10809 --filter=error memory 1M error-pread=ENOSPC error-pread-rate=100%')
      const devices = `<disk type='network' device='disk'><driver name='qemu' type='raw' error_policy='stop' rerror_policy='stop'/>
        <source protocol='nbd' name='exp'><host name='127.0.0.1' port='10809'/></source><target dev='vda' bus='virtio'/></disk>`
      return create(virt, name, { devices })
    },
    async withMuchToMove(name) {
      await writeGuestImage(`${dir}/dirty.img`, 32)
      return create(virt, name, { devices: diskXml(`${dir}/dirty.img`) })
    },
    async move(guest, arrives) {
      const { live, peerToPeer, unsafe } = procedures.MIGRATE
      const move = {
        domain: guest,
        destination: `qemu+tcp://127.0.0.1:${b.port}/system`,
        params: [{ field: 'bandwidth', type: 'ullong' as const, value: arrives ? 1000n : 1n }],
        flags: live | peerToPeer | unsafe
      }
      const moved = virt.call(procedures.domainMigratePerform, move, { timeoutMs: 100_000 })
      if (arrives) await moved
      else await t.rejects(moved, { code: 'operation-aborted' })
    },
    crash: ({ name }) => void a.run(`kill -9 $(cat /run/libvirt/qemu/${name}.pid)`),
    killLibvirtd: async () => a.kill('KILL'),
    startLibvirtd: async () => {} // node.sh has started it again
  }
  hypervisorAgentContract(t, host, sink)
})

t.test('a real Open vSwitch, its bond against another switch', async t => {
  const lab = await startOvsLab(t, bondAgainstSwitch)
  lab.run(ovnOnTop)
  const sink = await startSink(t)
  await startOvsAgent(t, {
    dir: lab.dir,
    node: 'n1',
    kubeconfig: await kubeconfigOfNobody(lab.dir),
    namespace: 'ovn-system',
    sink: sink.url,
    timings: { linkStableMs: 50 }
  })
  const partner: Readonly<Record<string, string>> = { m0: 't10', m1: 't11' }
  const setCarrier = (member: string, up: boolean): void =>
    void lab.run(`ip -n tor link set ${partner[member]} ${up ? 'up' : 'down'}`)
  const enabled = (): number => (lab.run('OVS_RUNDIR=$DIR/n1 ovs-appctl bond/show bond0').match(/: enabled/g) ?? []).length
  await eventually('both members in use', async () => enabled() === 2)
  const setOvn = (connected: boolean): void =>
    void lab.run(connected ? 'ovn-central.sh central' : 'kill -KILL $(cat $DIR/central/sb.pid)')
  ovsAgentContract(t, { members: ['m0', 'm1'], setCarrier, setOvn }, sink)
})
