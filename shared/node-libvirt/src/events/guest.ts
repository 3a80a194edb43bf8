// The guest's agent, its description, its tuning
import { type Domain, readDomain } from '../domain.ts'
import { readTypedParams, type TypedParam } from '../typed-param.ts'
import { type Word, word } from '../words.ts'
import type { EventRow } from './event.ts'

// virConnectDomainEventAgentLifecycleState begins at 1; 0 was never sent
export const agentStates = ['unknown', 'connected', 'disconnected'] as const
export const agentReasons = ['unknown', 'domain-started', 'channel'] as const
const metadataTypes = ['description', 'title', 'element'] as const

// 17, message 346 DOMAIN_EVENT_CALLBACK_TUNABLE: domain, typed parameter[]
export const tunable: EventRow<{ domain: Domain; params: readonly TypedParam[] }> = {
  id: 17,
  number: 346,
  decode: r => ({ domain: readDomain(r), params: readTypedParams(r) })
}

export interface AgentLifecycle {
  readonly domain: Domain
  readonly state: Word<typeof agentStates>
  readonly reason: Word<typeof agentReasons>
}

// 18, message 348 DOMAIN_EVENT_CALLBACK_AGENT_LIFECYCLE: domain, int state, int reason
export const agentLifecycle: EventRow<AgentLifecycle> = {
  id: 18,
  number: 348,
  decode: r => ({ domain: readDomain(r), state: word(agentStates, r.int()), reason: word(agentReasons, r.int()) })
}

// 23, message 379 DOMAIN_EVENT_CALLBACK_METADATA_CHANGE: domain, int type, string? namespace
export const metadataChange: EventRow<{ domain: Domain; type: Word<typeof metadataTypes>; namespace: string | null }> = {
  id: 23,
  number: 379,
  decode: r => ({ domain: readDomain(r), type: word(metadataTypes, r.int()), namespace: r.optional(() => r.string()) })
}
