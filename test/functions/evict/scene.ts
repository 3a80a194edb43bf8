// A host with servers that is emptied, on the behaving OpenStack with time in our hands.
import type { Eviction } from '../../../shared/schema/eviction.ts'
import { drain, type Drain } from './world.ts'

export const minuteMs = 60_000
export const left = ({ fake }: Drain) =>
  [...fake.world.instances.values()].filter(({ host }) => host === 'hv1').map(({ id }) => id)
export const open = ({ fake }: Drain) =>
  fake.world.migrations.filter(({ status }) => ['accepted', 'queued', 'preparing', 'running'].includes(status))
export const told = ({ eviction }: Drain, type: string) => eviction.status?.conditions?.find(known => known.type === type)

/** Passes until moves are under way. */
export async function underWay(drained: Drain): Promise<void> {
  for (let at = 0; at < 20 && open(drained).length === 0; at++) {
    const { nextCheckMs } = await drained.pass()
    drained.clock.advance(Math.min(nextCheckMs, 500))
  }
  drained.clock.advance(100)
}

export async function scene(
  t: { teardown(close: () => unknown): void },
  servers: number,
  spec: Partial<Eviction['spec']> = {},
  given: Parameters<typeof drain>[1] = {}
): Promise<Drain & { ids: string[] }> {
  const drained = await drain(spec, given)
  t.teardown(() => drained.close())
  drained.fake.host('hv1').liveMoveMs = 10_000
  const ids = Array.from({ length: servers }, (_, at) => drained.fake.addServer({ name: `s${at}`, host: 'hv1' }).id)
  return Object.assign(drained, { ids })
}

/** No room on the other hosts, until the answer is called. */
export function fillUp({ fake }: Drain): () => void {
  const inventories = ['hv2', 'hv3'].map(host => fake.world.providers.get(fake.host(host).id)?.inventories.get('MEMORY_MB'))
  const before = inventories.map(inventory => ({ ...inventory }))
  for (const inventory of inventories) if (inventory) Object.assign(inventory, { total: 512, reserved: 512 })
  return () => inventories.forEach((inventory, at) => inventory && Object.assign(inventory, before[at]))
}
