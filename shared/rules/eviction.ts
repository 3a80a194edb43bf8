// What may not be stored as an Eviction (spec/hypervisor.md §1.2, §1.5). Pure.
import { isDeepStrictEqual } from 'node:util'
import { findCondition } from '../kube/conditions.ts'
import { Eviction } from '../schema/eviction.ts'
import type { Asked } from './asked.ts'
import { breach, judge, type Rule, type Verdict } from './rule.ts'
import { schemaFindings } from './schema-findings.ts'

type EvictionRule = Rule<Asked<Eviction>>

const modeOf = ({ spec }: Eviction): string => spec?.mode ?? 'drain'

/** Not over: it has not said how it ended. */
export function isActive(eviction: Eviction): boolean {
  const { phase, verdict, finishedAt } = eviction.status ?? {}
  if (phase === 'Done' || verdict !== undefined || finishedAt !== undefined) return false
  return findCondition(eviction, 'Evicting')?.status !== 'False'
}

const immutable: EvictionRule = {
  id: '1.5',
  weight: 'refused',
  what: 'A change of hypervisor or mode of an Eviction',
  example: 'spec.hypervisor: h1 → h2',
  fix: 'cancel this one and make another for that host',
  check({ object, old }) {
    if (!old) return []
    const moved =
      old.spec?.hypervisor === object.spec?.hypervisor ? [] : [breach('spec.hypervisor', `must stay ${old.spec?.hypervisor}`)]
    return modeOf(old) === modeOf(object) ? moved : [...moved, breach('spec.mode', `must stay ${modeOf(old)}`)]
  }
}

const evacuateByHa: EvictionRule = {
  id: 'HV-13',
  weight: 'refused',
  what: 'mode: evacuate by another than the HA identity',
  example: 'kubectl create -f of an Eviction with mode: evacuate',
  fix: 'use mode: drain: an evacuation of a host that still runs would start its servers twice',
  check({ operation, object, user, policy }) {
    if (operation !== 'CREATE' || modeOf(object) !== 'evacuate' || !user || policy.haIdentities.includes(user.username)) return []
    return [breach('spec.mode', `evacuate is for the HA service alone, not for ${user.username}: use drain`)]
  }
}

/** An evacuation takes a running drain's place: the host is dead. */
const second: EvictionRule = {
  id: 'HV-13',
  weight: 'objected',
  what: 'A second active Eviction for one host',
  example: 'an Eviction for h1 while another for h1 runs',
  fix: 'wait for the other, or cancel it; admitted, it waits in Preflight',
  check({ operation, object, evictions }) {
    if (operation !== 'CREATE' || modeOf(object) === 'evacuate' || !evictions.known) return []
    const host = object.spec?.hypervisor
    const other = evictions.value?.find(
      ({ metadata, spec }) => spec?.hypervisor === host && metadata.name !== object.metadata.name
    )
    return other ? [breach('spec.hypervisor', `${host} is being emptied by the Eviction ${other.metadata.name} already`)] : []
  }
}

const secondNotChecked: EvictionRule = {
  id: 'HV-13',
  weight: 'warned',
  what: 'Nothing, but says so, where other Evictions could not be read',
  example: 'an Eviction made while the API server does not answer the webhook',
  fix: 'kubectl get evictions',
  check: ({ operation, evictions }) =>
    operation === 'CREATE' && !evictions.known ? [breach('spec.hypervisor', 'other Evictions of the host were not checked')] : []
}

export const evictionRules: readonly EvictionRule[] = [immutable, evacuateByHa, second, secondNotChecked]

export function checkEviction(asked: Asked<Eviction>): Verdict {
  const { operation, subresource, object, old, policy } = asked
  const settled =
    operation === 'DELETE' ||
    subresource ||
    object.metadata?.deletionTimestamp ||
    (old && isDeepStrictEqual(object.spec, old.spec))
  if (settled) return { violations: [], warnings: [] }
  const bySchema = schemaFindings(Eviction, object)
  return bySchema.length > 0 ? { violations: bySchema, warnings: [] } : judge(evictionRules, asked, policy.enforce)
}
