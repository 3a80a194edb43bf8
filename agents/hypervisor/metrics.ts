import { Counter, Gauge, type Registry } from 'prom-client'
import { activeDomains, type Known } from './known.ts'

export interface AgentMetrics {
  sessions: Counter
  told: Counter<'type'>
  dropped: Counter
  missedBeats: Counter
}

export function agentMetrics(registry: Registry, known: Known): AgentMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string, value: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers, collect: (): void => made.set(value()) })
  }
  gauge('drover_agent_domains', 'Domains that run', () => activeDomains(known))
  gauge('drover_agent_libvirt_up', '1 while libvirt answers', () => Number(known.connection?.status === 'True'))
  gauge('drover_agent_problems', 'Entries of status.agent.degraded', () => known.problems.size)
  const counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []): Counter<L> =>
    new Counter({ name, help, labelNames, registers })
  return {
    sessions: counter('drover_agent_libvirt_sessions_total', 'Connections to libvirt'),
    told: counter('drover_agent_told_total', 'Events handed to the spool', ['type']),
    dropped: counter(
      'drover_agent_libvirt_events_dropped_total',
      'Events of libvirt lost because the agent fell behind; a listing followed'
    ),
    missedBeats: counter('drover_agent_heartbeats_missed_total', 'Heartbeats that the broker did not take')
  }
}
