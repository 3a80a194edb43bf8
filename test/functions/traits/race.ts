// AG-12: a rival writes the same list of traits as fast as it can, as nova-compute does. Nobody's trait may get lost.
import { randomUUID } from 'node:crypto'
import { OpenStackError, type Cloud } from 'openstack-sdk-lite'
import { syncTraits } from '../../../functions/traits/sync.ts'
import { changeOf, type Wanted } from '../../../functions/traits/decide.ts'

export interface Race {
  /** What Drover wanted and what the rival wanted, and what is there in the end. */
  lost: string[]
  /** Whether the generation moved under somebody's feet. */
  contended: boolean
}

export interface RaceTrack {
  run(chance: () => number): Promise<Race>
}

const names = ['CUSTOM_RACE_A', 'CUSTOM_RACE_B', 'CUSTOM_RACE_C', 'CUSTOM_RACE_D']
const rivals = ['CUSTOM_RIVAL_A', 'CUSTOM_RIVAL_B', 'CUSTOM_RIVAL_C']
const some = (from: readonly string[], chance: () => number): string[] => from.filter(() => chance() < 0.5)

/** On a provider of its own. Each run wants other traits on both sides, so that each has something to add and to take away. */
export async function raceTrack(cloud: Cloud, provider: string): Promise<RaceTrack> {
  for (const trait of [...names, ...rivals]) await cloud.traits.create(trait)
  let managed: string[] = []
  return {
    async run(chance) {
      const wanted: Wanted = { traits: some(names, chance), unusable: [], managed }
      const [first, second, theirs] = [some(rivals, chance), some(rivals, chance), some(rivals, chance)]
      let conflicts = 0
      const rival = (wanted: string[]) => rivalWrite(cloud, provider, wanted, () => conflicts++)
      const met = Promise.withResolvers<void>()
      const between = () => rival(first).then(met.resolve)
      const [ours] = await Promise.all([
        syncTraits(provider, wanted, interrupted(cloud, between), () => conflicts++),
        met.promise.then(() => rival(second)).then(() => rival(theirs))
      ])
      managed = wanted.traits
      const { traits } = await cloud.resourceProviders.traits(provider)
      const missing = [...wanted.traits, ...theirs].filter(trait => !traits.includes(trait))
      const surplus = traits.filter(trait => names.includes(trait) && !wanted.traits.includes(trait))
      const strange = traits.filter(trait => rivals.includes(trait) && !theirs.includes(trait))
      const { write } = changeOf(wanted, ours.traits)
      return { lost: [...missing, ...surplus, ...strange, ...(write ?? [])], contended: conflicts > 0 }
    }
  }
}

/** A cloud on which somebody writes right after the first read, and so before what follows from it is written. */
function interrupted(cloud: Cloud, write: () => Promise<void>): Pick<Cloud, 'resourceProviders' | 'traits'> {
  let first: Promise<void> | undefined
  const traits: Cloud['resourceProviders']['traits'] = async provider => {
    const seen = await cloud.resourceProviders.traits(provider)
    await (first ??= write())
    return seen
  }
  return { traits: cloud.traits, resourceProviders: { ...cloud.resourceProviders, traits } }
}

/** Replaces its own traits and keeps all others, however often it must try. */
async function rivalWrite(cloud: Cloud, provider: string, wanted: string[], onConflict: () => void): Promise<void> {
  for (;;) {
    const { generation, traits } = await cloud.resourceProviders.traits(provider)
    const kept = traits.filter(trait => !rivals.includes(trait))
    try {
      await cloud.resourceProviders.setTraits(provider, { generation, traits: [...kept, ...wanted] })
      return
    } catch (err) {
      // 500: a deadlock in Placement's database, seen on the real one
      if (!(err instanceof OpenStackError) || (err.code !== 'Conflict' && err.code !== 'ServiceFault')) throw err
      onConflict()
    }
  }
}

export const newProvider = (): { uuid: string; name: string } => ({ uuid: randomUUID(), name: `race-${randomUUID()}` })
