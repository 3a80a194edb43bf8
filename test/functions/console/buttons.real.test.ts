// Every button that the page has for the simulated fleet, pressed in a real browser on `npm start` as it is: each does what it says, as the
// simulator and Drover itself tell it afterwards, or refuses in a sentence.
import t from 'tap'
import type { ShownAction, ShownFleet, ShownHost } from '../../../shared/runtime/simulator.ts'
import type { HostDetail } from '../../../shared/view/types.ts'
import { start } from '../../local/start.ts'
import { eventually } from '../../servers/eventually.ts'
import { startBrowser } from '../../servers/chromium.ts'

const patience = 180_000
t.setTimeout(4 * patience)
const npmStart = start(t, '--hosts', '4', '--zones', '2', '--vms', '2', '--log', 'json')
const [, url = ''] = await npmStart.says(/^ +console +(http:\S+)$/m)
await npmStart.says(/The page lives/)

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(url + path)
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}`)
  return (await answer.json()) as T
}
const { actions } = await ask<{ actions: ShownAction[] }>('/api/sim/actions')
const fleetNow = () => ask<ShownFleet>('/api/sim/fleet')
const [first] = (await fleetNow()).hosts
if (!first) throw new Error('there is no host')
const { name: host, zone } = first

const browser = await startBrowser(t)
const page = await browser.newPage({ viewport: { width: 1360, height: 900 } })
page.setDefaultTimeout(patience)
const faults: string[] = []
page.on('pageerror', err => faults.push(err.message))

interface Seen {
  fleet: ShownFleet
  sim: ShownHost
  /** What Drover says of the host. */
  told: HostDetail
  vm: string
}

async function look(vm: string): Promise<Seen> {
  const [fleet, told] = await Promise.all([fleetNow(), ask<HostDetail>(`/api/hosts/${host}`)])
  const sim = fleet.hosts.find(({ name }) => name === host)
  if (!sim) throw new Error(`${host} is gone`)
  return { fleet, sim, told, vm }
}

type Step = [action: string, says: RegExp, effect: (seen: Seen) => boolean]

const nothingNew = (): boolean => true
const links =
  (...up: boolean[]) =>
  ({ sim }: Seen) =>
    sim.links.every((link, at) => link.up === up[at])
const network =
  (line: string) =>
  ({ told }: Seen) =>
    told.host.network.line === line
const word =
  (wanted: RegExp) =>
  ({ told }: Seen) =>
    wanted.test(told.host.word)
const open =
  (undo: string, is: boolean) =>
  ({ fleet }: Seen) =>
    fleet.undo.some(({ name }) => name === undo) === is
const vmIs =
  (state: string) =>
  ({ sim, vm }: Seen) =>
    sim.vms.some(({ name, state: now }) => name === vm && now === state)
const timeline =
  (text: RegExp) =>
  ({ told }: Seen) =>
    text.test(JSON.stringify([told.timeline, told.ha, told.story]))
const all =
  (...effects: Step[2][]) =>
  (seen: Seen) =>
    effects.every(effect => effect(seen))

const onHost: Step[] = [
  ['pull-cable', /the cable of eth0 of \S+ is out/, all(links(false, true), network('bond0 1 of 2'))],
  ['plug-cable', /the cable of eth0 of \S+ is in/, all(links(true, true), network(''))],
  ['plug-cable', /every cable of \S+ is in already/, links(true, true)],
  ['fail-bond', /no member of bond0 of \S+ has a link/, all(links(false, false), network('bond0 0 of 2'))],
  ['heal-bond', /every member of bond0 of \S+ has a link/, all(links(true, true), network(''))],
  ['cut-ovn', /ovn-controller of \S+ is cut off/, network('cut off from OVN')],
  ['join-ovn', /ovn-controller of \S+ is connected/, network('')],
  ['kill-libvirt', /libvirtd of \S+ is dead/, all(({ sim }) => sim.libvirt === 'stopped', word(/libvirt down/))],
  ['kill-libvirt', /libvirtd of \S+ does not run/, ({ sim }) => sim.libvirt === 'stopped'],
  ['start-libvirt', /libvirtd of \S+ runs/, all(({ sim }) => sim.libvirt === 'running', word(/Ready/))],
  ['kill-agent', /the hypervisor agent of \S+ is dead/, ({ sim }) => sim.agents.hypervisor === 'stopped'],
  ['start-agent', /the hypervisor agent of \S+ runs/, ({ sim }) => sim.agents.hypervisor === 'running'],
  ['fail-moves', /live moves away from \S+ will fail/, open('heal-moves', true)],
  ['heal-moves', /live moves away from \S+ will succeed/, open('heal-moves', false)],
  ['slow-moves', /a live move away from \S+ will take 60 s/, open('heal-moves', true)],
  ['heal-moves', /live moves away from \S+ will succeed/, open('heal-moves', false)],
  ['power-on', /\S+ has power/, ({ sim }) => sim.power === 'on'],
  ['power-off', /\S+ has no power/, ({ sim }) => sim.power === 'off' && sim.agents.hypervisor === 'stopped'],
  ['power-on', /\S+ has booted/, all(({ sim }) => sim.power === 'on', timeline(/[Bb]oot/))],
  ['reboot-host', /\S+ reboots, which takes 20 s/, ({ sim }) => sim.power === 'on' && sim.agents.hypervisor === 'running'],
  ['drain-host', /\S+ is to be drained: a scenario/, all(word(/Drained/), ({ sim }) => sim.vms.length === 0)],
  ['undrain-host', /\S+ goes back into service/, word(/Ready/)]
]

const onVm: Step[] = [
  ['heal-disk', /\S+ is not paused/, vmIs('running')],
  ['fire-watchdog', /the watchdog of \S+ on \S+ has fired \(reset\)/, timeline(/watchdog/i)]
]

/** What happens to one VM within a while is one incident: the crash is that of another. */
const onOtherVm: Step[] = [
  ['crash-vm', /\S+ on \S+ has crashed/, timeline(/crash/i)],
  ['start-vm', /is started|is [a-z-]+ now/, vmIs('running')], // or functions/ha is at it
  ['fail-disk', /vda of \S+ on \S+ gives I\/O errors \(enospc\); the server is paused/, vmIs('paused')],
  ['heal-disk', /the disk of \S+ works again/, vmIs('running')]
]

const onFleet: Step[] = [
  ['free-zone', /\S+ was not filled/, nothingNew],
  ['fill-zone', /\S+ is full/, open('free-zone', true)],
  ['fill-zone', /\S+ is full already/, open('free-zone', true)],
  ['free-zone', /\S+ has room again/, open('free-zone', false)],
  ['slow-nova', /Nova takes 5 s for every answer/, ({ fleet }) => fleet.nova === 'slow'],
  ['stop-nova', /Nova is down/, ({ fleet }) => fleet.nova === 'down'],
  ['heal-nova', /Nova answers/, ({ fleet }) => fleet.nova === 'up'],
  ['stop-nova', /Nova is down/, ({ fleet }) => fleet.nova === 'down'],
  ['heal-all', /things? undone/, ({ fleet }) => fleet.nova === 'up' && fleet.undo.length === 0]
]

const outcome = page.locator('p[role="status"]')

const [vm = '', otherVm = ''] = first.vms.map(({ name }) => name)

for (const [where, path, chosen, steps] of [
  ['of a VM', `hosts/${host}`, vm, onVm],
  ['of another VM', `hosts/${host}`, otherVm, onOtherVm],
  ['of a host', `hosts/${host}`, undefined, onHost],
  ['of the fleet', '', zone, onFleet]
] as const) {
  t.test(`the buttons ${where}`, async t => {
    await eventually('a fleet that is well', async () => word(/^Ready$/)(await look('')), patience)
    await page.goto(`${url}/#/${path}`)
    if (chosen !== undefined) await page.locator('select').first().selectOption(chosen)
    for (const [action, says, effect] of steps) {
      await page.getByRole('button', { name: action.replaceAll('-', ' '), exact: true }).click()
      await outcome.filter({ hasText: says }).waitFor()
      await eventually(`the effect of ${action}`, async () => effect(await look(chosen ?? '')), patience)
      t.pass(`${action}: ${await outcome.textContent()}`)
    }
  })
}

t.test('no button was left out, and the page had no fault', async t => {
  const pressed = new Set([...onVm, ...onOtherVm, ...onHost, ...onFleet].map(([action]) => action))
  t.strictSame([...pressed].sort(), actions.map(({ name }) => name).sort())
  t.strictSame(faults, [])
})
