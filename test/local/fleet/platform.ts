// The whole platform with a small fleet, in this process and in virtual time.
import { connect, type Kube } from '../../../shared/kube/index.ts'
import type { Fleet } from '../../../shared/local/fleet/fleet.ts'
import type { Door } from '../../../shared/local/fleet/door.ts'
import type { FleetWishes } from '../../../shared/local/fleet/plan.ts'
import { startPlatform } from '../../../shared/local/platform.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { startVirtualTime, type VirtualTime } from './virtual-time.ts'

export interface Lab {
  time: VirtualTime
  fleet: Fleet
  door: Door
  kube: Kube
  /** For programs of their own; virtual time stands still while they run. */
  kubeconfig: string
  lines: string[]
  /** Of the condition Ready. */
  readiness(host: string): Promise<{ reason: string; message: string } | undefined>
  /** Types of events that were handled, with their subjects. */
  handled(): string[]
  /** To be called as the tests end: the runner, too, needs real timers to come to its end. */
  close(): Promise<void>
}

const small: FleetWishes = { hosts: 4, zones: 2, vms: 2, seed: 7 }
const patienceMs = 300_000

/** `early`: as soon as there is a fleet, when not all of its hosts are in it. */
export async function startLab(
  wishes: Partial<FleetWishes> = {},
  early: (fleet: Fleet) => Promise<void> = async () => {}
): Promise<Lab> {
  const time = startVirtualTime()
  const lines: string[] = []
  const platform = await time.during(
    startPlatform({ fleet: { ...small, ...wishes }, logs: { write: line => void lines.push(line) } })
  )
  const kube = await connect({ manager: 'operator', kubeconfig: platform.kubeconfig })
  const close = async (): Promise<void> => {
    kube.close()
    await time.during(platform.close())
    time.end()
  }
  const started = await time.during(platform.fleet ?? Promise.reject(new Error('the platform has no fleet')))
  const { fleet, door } = started
  await time.during(early(fleet))
  const readiness = async (host: string) =>
    (await kube.find(Hypervisor, host))?.status?.conditions?.find(({ type }) => type === 'Ready')
  const inService = async () => {
    const all = await Promise.all(Array.from(fleet.hosts.keys(), readiness))
    return all.every(ready => ready?.reason === 'Ready')
  }
  await time.until('every host in service', inService, patienceMs)
  const { kubeconfig } = platform
  return { time, fleet, door, kube, kubeconfig, lines, readiness, handled: () => lines.flatMap(handledIn), close }
}

function handledIn(line: string): string[] {
  const { type, subject } = JSON.parse(line) as { type?: unknown; subject?: unknown }
  return typeof type === 'string' ? [`${type} ${String(subject)}`] : []
}
