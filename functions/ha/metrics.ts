import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client'
import type { Step } from './decide.ts'

const once = <T extends Metric>(registry: Registry, name: string, make: () => T): T =>
  (registry.getSingleMetric(name) as T | undefined) ?? make()

export interface Measure {
  heard(type: string): void
  waiting(events: number): void
  decided(host: string, step: Step): void
}

/** Every host is looked at within ten minutes, by one process or another; who does not look any more does not know any more. */
const oldMs = 900_000

/** HA-49. Kinds, rules and states are closed sets; hosts are a bounded one, and their series go when they are well. */
export function haMetrics(registry: Registry, clock: () => Date): Measure {
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[]) =>
    once(registry, name, () => new Counter({ name, help, labelNames, registers }))
  const gauge = (name: string, help: string, labelNames: string[]) =>
    once(registry, name, () => new Gauge({ name, help, labelNames, registers }))
  const events = counter('drover_ha_events_total', 'Events heard, by type', ['type'])
  const decisions = counter('drover_ha_decisions_total', 'Decisions, by what they were about and how they ended', [
    'kind',
    'state'
  ])
  const actions = counter('drover_ha_actions_total', 'What was asked for', ['action'])
  const waiting = gauge('drover_ha_waiting', 'Events that wait for a look at their host', [])
  const looked = gauge(
    'drover_ha_last_decision_timestamp_seconds',
    'When something was last decided: progress, not being up (HA-17)',
    []
  )
  const open = gauge('drover_ha_incidents', 'Servers with an incident, by state', ['host', 'state'])
  const signals = gauge('drover_ha_signals', 'Signals of a host; 1 alert, 2 disable, 3 drain', ['host', 'kind'])
  const name = 'drover_ha_recovery_seconds'
  const recovery = once(
    registry,
    name,
    () =>
      new Histogram({
        name,
        help: 'From the event to a server that is proven to run again',
        buckets: [30, 60, 70, 90, 120, 180, 300, 600, 1800],
        registers
      })
  )
  const shown = new Map<string, { atMs: number; series: ReadonlySet<string> }>()

  function show(host: string, series: ReadonlySet<string>, atMs: number): void {
    for (const gone of [...(shown.get(host)?.series ?? [])].filter(one => !series.has(one))) {
      const [what, label = ''] = gone.split(' ')
      if (what === 'state') open.remove(host, label)
      else signals.remove(host, label)
    }
    if (series.size === 0) shown.delete(host)
    else shown.set(host, { atMs, series })
  }

  return {
    heard: type => events.labels(type).inc(),
    waiting: count => waiting.set(count),
    decided(host, { ha, decisions: made, calls }) {
      const nowMs = clock().getTime()
      looked.set(nowMs / 1000)
      for (const { kind = '', state = '', startedAt, finishedAt } of made) {
        decisions.labels(kind, state).inc()
        if (state === 'Recovered' && startedAt && finishedAt)
          recovery.observe(Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) / 1000)
      }
      for (const call of calls) actions.labels(call.do).inc()
      const states = Map.groupBy(ha.incidents ?? [], ({ state }) => state)
      const levels = { alert: 1, disable: 2, drain: 3 }
      const kinds = new Map<string, number>()
      for (const { kind, effect = 'alert' } of ha.signals ?? []) kinds.set(kind, Math.max(kinds.get(kind) ?? 0, levels[effect]))
      const after = [...[...states.keys()].map(state => `state ${state}`), ...[...kinds.keys()].map(kind => `kind ${kind}`)]
      for (const [state, all] of states) open.labels(host, state).set(all.length)
      for (const [kind, level] of kinds) signals.labels(host, kind).set(level)
      show(host, new Set(after), nowMs)
      for (const [other, { atMs }] of shown) if (nowMs - atMs > oldMs) show(other, new Set(), nowMs)
    }
  }
}
