// What a fleet consists of, before any of it runs. Pure: the same wishes give the same plan.
import { machine } from './libvirt/documents.ts'
import { seeded } from './random.ts'

export interface FleetWishes {
  hosts: number
  zones: number
  /** On each host. */
  vms: number
  seed: number
}

export const defaultWishes: FleetWishes = { hosts: 12, zones: 3, vms: 5, seed: 1 }

export interface PlannedHost {
  name: string
  zone: string
  block: string
  /** In its zone, from 0. */
  number: number
  address: string
  vms: PlannedVm[]
}

export interface PlannedVm {
  id: string
  name: string
  flavor: PlannedFlavor
}

export interface PlannedFlavor {
  id: string
  name: string
  vcpus: number
  ramMiB: number
  diskGiB: number
}

export const flavors: readonly PlannedFlavor[] = [
  { id: '11', name: 'g_c1_m2', vcpus: 1, ramMiB: 2048, diskGiB: 20 },
  { id: '12', name: 'g_c2_m8', vcpus: 2, ramMiB: 8192, diskGiB: 40 },
  { id: '13', name: 'g_c4_m16', vcpus: 4, ramMiB: 16_384, diskGiB: 64 },
  { id: '14', name: 'g_c8_m32', vcpus: 8, ramMiB: 32_768, diskGiB: 64 }
]

/** What of the memory of a host servers of one flavor may take, were there no other: leaves room for those of a host that is drained. */
const share = 0.9
export const hostMemoryMiB = machine.cells * machine.memoryGiBInCell * 1024

const fitting = (vms: number): readonly PlannedFlavor[] => {
  const small = flavors.filter(({ ramMiB }) => ramMiB * vms <= share * hostMemoryMiB)
  return small.length > 0 ? small : flavors.slice(0, 1)
}

const uses = ['web', 'db', 'mail', 'build', 'cache', 'queue', 'batch', 'proxy']

export function planFleet({ hosts, zones, vms, seed }: FleetWishes): PlannedHost[] {
  const random = seeded(seed)
  const offered = fitting(vms)
  const inZone = Math.ceil(hosts / zones)
  const inBlock = Math.min(16, Math.max(2, Math.ceil(inZone / 2)))
  const used = new Map<string, number>()
  return Array.from({ length: hosts }, (_, at) => {
    const letter = zoneLetters(Math.floor(at / inZone))
    const number = at % inZone
    return {
      name: `node${String(number + 1).padStart(3, '0')}-zone-${letter}`,
      zone: `zone-${letter}`,
      block: `bb-${letter}${Math.floor(number / inBlock) + 1}`,
      number,
      address: `10.${1 + Math.floor(at / inZone)}.${Math.floor(number / 250)}.${(number % 250) + 1}`,
      vms: Array.from({ length: vms }, () => {
        const use = random.pick(uses)
        const count = (used.get(use) ?? 0) + 1
        used.set(use, count)
        return { id: random.uuid(), name: `${use}-${count}`, flavor: random.pick(offered) }
      })
    }
  })
}

/** a … z, aa, ab, … */
function zoneLetters(at: number): string {
  const last = String.fromCharCode(97 + (at % 26))
  return at < 26 ? last : zoneLetters(Math.floor(at / 26) - 1) + last
}
