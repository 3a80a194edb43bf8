// Everything that can be done to the simulated fleet. Data only: help, page, scenarios and the check of arguments derive from it.
import { Type, type Static, type TProperties, type TSchema } from 'typebox'
import type { ShownAction, ShownArgument } from '../../../runtime/simulator.ts'

type About = ShownAction['about']

interface Entry<P extends TProperties = TProperties> {
  does: string
  about: About
  args: P
  undo?: string
}

const action = <P extends TProperties>(about: About, does: string, args: P, undo?: string): Entry<P> => ({
  about,
  does,
  args,
  ...(undo !== undefined && { undo })
})

const host = Type.String({ minLength: 1, description: 'name of the host' })
const vm = Type.String({ minLength: 1, description: 'name or id of the server, or HOST/N for the N-th on a host' })
const zone = Type.String({ minLength: 1, description: 'name of the availability zone' })
const link = Type.Optional(
  Type.String({ minLength: 1, description: 'network card; left out, the first of the bond for which it makes a difference' })
)
const bond = Type.Optional(Type.String({ minLength: 1, description: 'name of the bond', default: 'bond0' }))
const agent = Type.Optional(
  Type.Enum(['hypervisor', 'ovs', 'both'], { description: 'which of the agents on the host', default: 'hypervisor' })
)
const seconds = (means: string, byDefault: number) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 86_400, description: means, default: byDefault }))

export const catalogue = {
  'pull-cable': action('host', 'Pulls the cable out of one network card: a bond loses a member.', { host, link }, 'plug-cable'),
  'plug-cable': action('host', 'Plugs the cable of a network card in again.', { host, link }),
  'fail-bond': action('host', 'Takes the link from every member of a bond: the host is cut off.', { host, bond }, 'heal-bond'),
  'heal-bond': action('host', 'Gives every member of a bond its link again.', { host, bond }),
  'cut-ovn': action('host', 'Cuts ovn-controller off from the southbound database: flows freeze.', { host }, 'join-ovn'),
  'join-ovn': action('host', 'Lets ovn-controller reach the southbound database again.', { host }),
  'crash-vm': action('vm', 'Kills the QEMU process of a server; Nova shows it as stopped a moment later.', { vm }, 'start-vm'),
  'start-vm': action('vm', 'Starts a server that does not run, as its owner would do by Nova.', { vm }),
  'fire-watchdog': action('vm', 'The watchdog of a guest fires: nobody inside had fed it.', {
    vm,
    action: Type.Optional(Type.Enum(['reset', 'pause', 'poweroff', 'none'], { description: 'what it does', default: 'reset' }))
  }),
  'fail-disk': action(
    'vm',
    'The disk of a server gives an I/O error, and the server is paused.',
    {
      vm,
      device: Type.Optional(Type.String({ minLength: 1, description: 'which disk', default: 'vda' })),
      reason: Type.Optional(Type.Enum(['enospc', 'eio'], { description: 'no space left, or a broken disk', default: 'enospc' }))
    },
    'heal-disk'
  ),
  'heal-disk': action('vm', 'The disk works again, and the server goes on.', { vm }),
  'kill-libvirt': action('host', 'Kills libvirtd; the servers go on running, unmanaged.', { host }, 'start-libvirt'),
  'start-libvirt': action('host', 'Starts libvirtd again.', { host }),
  'kill-agent': action('host', 'Kills an agent of Drover on the host: it falls silent.', { host, agent }, 'start-agent'),
  'start-agent': action('host', 'Starts an agent of Drover again.', { host, agent }),
  'power-off': action(
    'host',
    'Cuts the power of a host: its servers, its daemons and its agents are gone.',
    { host },
    'power-on'
  ),
  'power-on': action('host', 'Gives a host its power again; it boots, and Nova starts its servers.', { host }),
  'reboot-host': action('host', 'Reboots a host.', { host, seconds: seconds('how long it takes', 20) }),
  'fill-zone': action('zone', 'Takes all that is free in a zone: nothing can be moved to its hosts.', { zone }, 'free-zone'),
  'free-zone': action('zone', 'Gives back what fill-zone took.', { zone }),
  'fail-moves': action('host', 'Makes every live move away from a host fail at its end.', { host }, 'heal-moves'),
  'heal-moves': action('host', 'Lets live moves away from a host succeed again, and as fast as before.', { host }),
  'slow-moves': action(
    'host',
    'Makes live moves away from a host take so long, those that run already among them.',
    { host, seconds: seconds('how long one takes', 60) },
    'heal-moves'
  ),
  'slow-nova': action('cloud', 'Delays every answer of Nova.', { seconds: seconds('by how much', 5) }, 'heal-nova'),
  'stop-nova': action('cloud', 'Nova answers 503 to everything.', {}, 'heal-nova'),
  'heal-nova': action('cloud', 'Nova answers at once again.', {}),
  'drain-host': action(
    'host',
    'Takes a host out of service, as `drover drain` does.',
    { host, reason: Type.Optional(Type.String({ description: 'why', default: 'a scenario' })) },
    'undrain-host'
  ),
  'undrain-host': action('host', 'Puts a host into service again.', { host }),
  'heal-all': action('fleet', 'Undoes everything that was done.', {})
} as const satisfies Record<string, Entry>

export type ActionName = keyof typeof catalogue
export const actionNames = Object.keys(catalogue) as ActionName[]
export const isActionName = (name: string): name is ActionName => Object.hasOwn(catalogue, name)

type Given<P extends TProperties> = Static<ReturnType<typeof Type.Object<P>>>
export type ArgsOf<N extends ActionName> = Given<(typeof catalogue)[N]['args']>

/** How `GET /actions` tells of them. */
export const shownActions = (): ShownAction[] => actionNames.map(shownAction)

function shownAction(name: ActionName): ShownAction {
  const { does, about, args, undo }: Entry = catalogue[name]
  return { name, does, about, args: Object.entries(args).map(shown), ...(undo !== undefined && { undo }) }
}

interface Described {
  description?: string
  type?: string
  enum?: string[]
  default?: string | number
}

function shown([name, schema]: [string, TSchema]): ShownArgument {
  const { description = '', type, enum: oneOf, default: byDefault } = schema as Described
  return {
    name,
    type: type === 'number' ? 'number' : 'string',
    required: !Type.IsOptional(schema),
    means: description,
    ...(oneOf && { oneOf }),
    ...(byDefault !== undefined && { default: byDefault })
  }
}
