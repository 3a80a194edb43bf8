// One provider's traits made as wanted, although nova-compute writes the same list (AG-12): whoever comes second reads again.
import { OpenStackError, type ProviderTraits } from 'openstack-sdk-lite'
import type { Cloud } from '../../shared/openstack/connect.ts'
import { retry, type RetryPolicy } from '../../shared/runtime/retry.ts'
import { changeOf, isCustom, type Wanted } from './decide.ts'

const races: RetryPolicy = { attempts: 6, minDelayMs: 50, maxDelayMs: 1000, jitter: 0.5 }

/** A stale generation; or a fault, since the real Placement answers two writers at once also with 500 and a deadlock of its database. Either is safe: each try reads first. */
const mayPass = (err: unknown): boolean =>
  err instanceof OpenStackError && (err.code === 'Conflict' || err.code === 'ServiceFault')

/** The list as it was written, or as it was found when nothing was to be written. `first` spares a read that was just made. */
export function syncTraits(
  provider: string,
  wanted: Wanted,
  cloud: Pick<Cloud, 'resourceProviders' | 'traits'>,
  onRetry: () => void = () => {},
  first?: ProviderTraits
): Promise<ProviderTraits> {
  return retry(
    races,
    async number => {
      const seen = (number === 1 ? first : undefined) ?? (await cloud.resourceProviders.traits(provider))
      const { write, add } = changeOf(wanted, seen.traits)
      return write === undefined ? seen : put(provider, { generation: seen.generation, traits: write }, add, cloud)
    },
    { retryable: mayPass, onRetry }
  )
}

/** Written with the generation that was just read, never with another. A custom trait that does not exist yet is made first (AG-10). */
async function put(
  provider: string,
  list: ProviderTraits,
  added: readonly string[],
  { resourceProviders, traits }: Pick<Cloud, 'resourceProviders' | 'traits'>
): Promise<ProviderTraits> {
  try {
    return await resourceProviders.setTraits(provider, list)
  } catch (err) {
    const made = added.filter(isCustom)
    if (!(err instanceof OpenStackError) || err.code !== 'BadRequest' || made.length === 0) throw err
    for (const trait of made) await traits.create(trait)
    return resourceProviders.setTraits(provider, list)
  }
}
