import type { Server } from 'openstack-sdk-lite'
import type { Eviction } from '../../shared/schema/eviction.ts'

/** Whom the Eviction leaves alone: by id, name or metadata. */
export function isExcluded({ id, name, metadata }: Server, rules: NonNullable<Eviction['spec']['exclude']>): boolean {
  return rules.some(rule =>
    rule.id !== undefined
      ? rule.id === id
      : rule.name !== undefined
        ? rule.name === name
        : rule.metadata !== undefined && metadata[rule.metadata.key] === rule.metadata.value
  )
}
