import type { Link } from '../ovs/switch.ts'
import type { SimHost } from '../host.ts'
import { poweredHost, Undoable } from './find.ts'
import type { Deeds } from './perform.ts'

function linkOf({ name, vswitch }: SimHost, wanted: string | undefined, up: boolean): Link {
  const { links } = vswitch
  const found = wanted === undefined ? links.find(link => link.up === up) : links.find(link => link.name === wanted)
  if (found) return found
  if (wanted === undefined) throw new Undoable('conflict', `every cable of ${name} is ${up ? 'out' : 'in'} already`)
  throw new Undoable('unknown', `${name} has no card ${wanted}; it has ${links.map(link => link.name).join(', ')}`)
}

function linksOf({ name, vswitch }: SimHost, bond: string): Link[] {
  const found = vswitch.links.filter(link => link.bond === bond)
  if (found.length > 0) return found
  const known = new Set(vswitch.links.map(link => link.bond))
  throw new Undoable('unknown', `${name} has no bond ${bond}; it has ${[...known].join(', ')}`)
}

type Names = 'pull-cable' | 'plug-cable' | 'fail-bond' | 'heal-bond' | 'cut-ovn' | 'join-ovn'

export const networkDeeds: Pick<Deeds, Names> = {
  'pull-cable': (fleet, { host: name, link: wanted }) => {
    const host = poweredHost(fleet, name)
    const link = linkOf(host, wanted, true)
    host.vswitch.setLink(link, false)
    return { did: `the cable of ${link.name} of ${name} is out`, args: { host: name, link: link.name } }
  },
  'plug-cable': (fleet, { host: name, link: wanted }) => {
    const host = poweredHost(fleet, name)
    const link = linkOf(host, wanted, false)
    host.vswitch.setLink(link, true)
    return { did: `the cable of ${link.name} of ${name} is in`, args: { host: name, link: link.name } }
  },
  'fail-bond': (fleet, { host: name, bond }) => {
    const host = poweredHost(fleet, name)
    host.vswitch.database.transact(() => linksOf(host, bond).forEach(link => host.vswitch.setLink(link, false)))
    return { did: `no member of ${bond} of ${name} has a link` }
  },
  'heal-bond': (fleet, { host: name, bond }) => {
    const host = poweredHost(fleet, name)
    host.vswitch.database.transact(() => linksOf(host, bond).forEach(link => host.vswitch.setLink(link, true)))
    return { did: `every member of ${bond} of ${name} has a link` }
  },
  'cut-ovn': (fleet, { host }) => {
    poweredHost(fleet, host).ovn.connected = false
    return { did: `ovn-controller of ${host} is cut off` }
  },
  'join-ovn': (fleet, { host }) => {
    poweredHost(fleet, host).ovn.connected = true
    return { did: `ovn-controller of ${host} is connected` }
  }
}
