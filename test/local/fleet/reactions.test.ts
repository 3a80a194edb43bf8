// Things done to the fleet by `drover sim`, and what `drover` says of them then: the real program on the whole platform, in virtual time.
import t, { type Test } from 'tap'
import { readHost } from '../../../shared/cli/fleet.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { hostDetail } from '../../../shared/view/detail.ts'
import { drover } from '../../cli/terminal.ts'
import { startLab } from './platform.ts'

t.setTimeout(900_000)
const minutes = 60_000
const lab = await startLab({ hosts: 4, zones: 2, vms: 3 })
t.teardown(() => lab.close())
const { time, fleet, kube } = lab
const host = 'node001-zone-a'
/** Each is drained in a test of its own: the VMs of one that was drained are elsewhere. */
const [full, failing, slow] = ['node002-zone-a', 'node001-zone-b', 'node002-zone-b']
/** One for each fault: what follows soon upon another is told with it. */
const [vm, dogged, diskless] = [`${host}/1`, `${host}/2`, `${host}/3`]

async function run(t: Test, ...args: string[]): Promise<string> {
  const { code, out, err } = await drover(args, { KUBECONFIG: lab.kubeconfig })
  t.equal(code, 0, `drover ${args.join(' ')}${err && `: ${err}`}`)
  return out
}

/** What the tile of a host and its page say, `state: line` first. */
const said = async (name: string): Promise<string> => {
  const { host: tile, story } = hostDetail(await readHost(kube, name), fleet.now())
  return [`${tile.word}: ${tile.line}`, ...story].join('\n')
}
async function says(pattern: RegExp, name = host): Promise<void> {
  let last = ''
  const matches = async () => pattern.test((last = await said(name)))
  await time.until(`${name} ${pattern}`, matches, 10 * minutes).catch((err: Error) => {
    throw new Error(`${err.message}\n${last}`)
  })
}
const ready = (name = host) => says(/^Ready: \d VMs?$/m, name)

interface Case {
  /** What is done, each as the arguments of `drover sim`. */
  does: string[][]
  /** What the tile of the host says: state and line. */
  tile: RegExp
  /** What `drover describe` says. */
  why: RegExp
  undo: string[][]
}

const cases: Case[] = [
  {
    does: [['pull-cable', host]],
    tile: /^Degraded: 3 VMs · bond0 1 of 2$/m,
    why: /bond0: eth0 down\. Traffic runs on eth1; the VMs stay\./,
    undo: [['plug-cable', host]]
  },
  {
    does: [['fail-bond', host]],
    tile: /^Network down: .*No usable member: bond0 0\/2/,
    why: /bond0 carries nothing: eth0, eth1 down\. The host is cut off\./,
    undo: [['heal-bond', host]]
  },
  {
    does: [['cut-ovn', host]],
    tile: /^Not scheduled: .*OvnDisconnected.*cut off from OVN/,
    why: /sign: ovn disconnected .*flows stay as they are/,
    undo: [['join-ovn', host]]
  },
  {
    does: [['kill-libvirt', host]],
    tile: /^libvirt down: The agent cannot reach libvirt/,
    why: /sign: libvirt lost .*Servers keep running/,
    undo: [['start-libvirt', host]]
  },
  {
    does: [['kill-agent', host]],
    tile: /^Agent silent: The agent was last heard at /,
    why: /Somebody has to look: Agent silent/,
    undo: [['start-agent', host]]
  },
  {
    does: [['kill-agent', host, 'agent=ovs']],
    tile: /^Degraded: 3 VMs · the OVS agent is silent$/m,
    why: /sign: ovs agent lost/,
    undo: [['start-agent', host, 'agent=ovs']]
  },
  {
    does: [['power-off', host]],
    tile: /^Node not ready: /,
    why: /Kubelet stopped posting node status/,
    undo: [['power-on', host]]
  },
  {
    does: [['reboot-host', host, '60']],
    tile: /^Node not ready: /,
    why: /Kubelet stopped posting node status/,
    undo: []
  }
]

for (const { does, tile, why, undo } of cases)
  t.test(does.map(([name]) => name).join(' and '), async t => {
    await ready()
    for (const args of does) await run(t, 'sim', ...args)
    await says(tile)
    t.match(await run(t, 'get', host), host)
    t.match(await run(t, 'describe', host), why)
    for (const args of undo) await run(t, 'sim', ...args)
    await ready()
  })

/** What high availability wrote down of the VMs. */
const incidents = async (): Promise<string[]> => {
  const { incidents: all = [] } = (await kube.find(Hypervisor, host))?.status?.ha ?? {}
  return all.map(({ kind, state }) => `${kind} ${state}`)
}
const judged = (verdict: string) =>
  time.until(`the verdict on ${vm}`, async () => (await incidents()).includes(verdict), 2 * minutes)
const runs = () =>
  time.until(
    `${vm} runs`,
    async () =>
      fleet
        .host(host)
        ?.domains.all()
        .every(({ state }) => state.state === 'running'),
    minutes
  )

t.test('crash-vm, and start-vm at once, as its owner would', async t => {
  await ready()
  await run(t, 'sim', 'crash-vm', vm)
  await says(/^Ready: 3 VMs · \S+ crashed$/m)
  await judged('crashed Reported')
  t.match(await run(t, 'describe', host), /VM \S+: crashed: reported .*The policy for crashed is restart/)
  t.match(await run(t, 'sim', 'fleet', '-o', 'wide'), /\(off\)/)
  await run(t, 'sim', 'start-vm', vm)
  await runs()
  await ready()
  await run(t, 'sim', 'crash-vm', vm)
  await run(t, 'sim', 'start-vm', vm)
  await time.advance(5000)
  await runs()
  await ready()
})

t.test('fire-watchdog: the guest is reset, and that is told', async t => {
  await run(t, 'sim', 'fire-watchdog', dogged)
  await says(/^Ready: 3 VMs · \S+ watchdog/m)
  t.match(await run(t, 'describe', host), /VM \S+: watchdog/)
  await ready()
})

t.test('fail-disk: the guest is paused, and that is told', async t => {
  await run(t, 'sim', 'fail-disk', diskless)
  t.match(await run(t, 'sim', 'fleet', '-o', 'wide'), /\(paused\)/)
  await time.until('what is said of the disk', async () => /disk/.test((await incidents()).join()), 2 * minutes)
  t.match(await run(t, 'describe', host), /VM \S+: disk/)
  await run(t, 'sim', 'heal-disk', diskless)
  await runs()
})

const undrained = async (t: Test, name: string) => {
  await run(t, 'undrain', name)
  await ready(name)
}

t.test('stop-nova: a drain waits, says for what, and goes on', async t => {
  await run(t, 'sim', 'slow-moves', host, '30')
  await run(t, 'drain', host, '--reason', 'a test')
  await says(/^Draining: \d left/)
  await run(t, 'sim', 'stop-nova')
  await says(/Waiting for OpenStack/)
  t.match(await run(t, 'describe', host), /Waiting for OpenStack/)
  t.match(await run(t, 'sim', 'fleet'), /Nova is down/)
  await run(t, 'sim', 'heal-nova')
  await undrained(t, host)
})

t.test('fill-zone: nothing can be moved, and that is said', async t => {
  await run(t, 'sim', 'fill-zone', 'zone-a')
  await run(t, 'drain', full)
  await says(/^Drain: 0 of \d.* waits for .*NoCapacity/m, full)
  t.match(await run(t, 'describe', full), /NoCapacity/)
  await run(t, 'sim', 'free-zone', 'zone-a')
  await undrained(t, full)
})

t.test('fail-moves: the drain is blocked, and a person is called', async t => {
  await run(t, 'sim', 'fail-moves', failing)
  await run(t, 'drain', failing)
  await says(/^Drain blocked: /m, failing)
  t.match(await run(t, 'describe', failing), /Somebody has to look/)
  await run(t, 'sim', 'heal-moves', failing)
  await undrained(t, failing)
})

t.test('slow-nova: a drain takes longer, and ends', async t => {
  await run(t, 'sim', 'slow-nova', '5')
  t.match(await run(t, 'sim', 'fleet'), /Nova is slow/)
  await run(t, 'drain', slow, '--reason', 'new DIMM')
  await says(/^Drained: empty · new DIMM/m, slow)
  await run(t, 'sim', 'heal-all')
  await undrained(t, slow)
})

t.end() // tap itself would wait for a timer, and those stand still
