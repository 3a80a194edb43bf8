// The fault check (HA-9…12): from domain, server, its actions and the times, whether a stop was a fault or somebody's wish. Pure.
import type { InstanceAction } from 'openstack-sdk-lite'
import { isReboot } from './heard.ts'
import type { Policy } from './policy.ts'
import { lastPower, requestBehind, requestTasks } from './requests.ts'
import type { Domain, Evidence, Incident } from './seen.ts'

export interface Facts {
  incident: Incident
  /** Nova's name of this host */
  host: string
  /** undefined: the agent reports none of this id */
  domain: Domain | undefined
  /** the agent reports, and libvirt answers it */
  domainKnown: boolean
  shuttingDown: boolean
  evidence: Evidence
  policy: Policy
  nowMs: number
}

export type Finding = 'fault' | 'none' | 'wait'

export interface Checked {
  finding: Finding
  rule: string
  reason: string
  /** the rules that were asked before, in plain words */
  passedOver: string[]
  inputs: Record<string, string>
}

interface Rule {
  name: string
  finding: Finding
  /** why it matches; undefined: it does not */
  matches: (facts: Facts) => string | undefined
  /** said when it does not */
  otherwise: (facts: Facts) => string
}

const running = new Set(['running', 'blocked'])
const waitedMs = ({ incident, nowMs }: Facts): number => nowMs - Date.parse(incident.noticedAt ?? '')

/** It runs, and not only because the agent has not said yet that it stopped. Some leave a domain running, or were waited for long enough. */
function runs({ domain, incident }: Facts): boolean {
  if (!domain || !running.has(domain.state ?? '')) return false
  if (isReboot(incident) || ['memory', 'crashloaded', 'disk'].includes(incident.kind)) return true
  return Date.parse(domain.since ?? '') >= Math.floor(Date.parse(incident.eventAt ?? '') / 1000) * 1000
}

/** Whose domain is down was not lost to libvirt alone: its end may be told later, or never. */
const isUncontrolled = ({ incident, domain }: Facts): boolean =>
  incident.kind === 'controlLost' && domain !== undefined && !['off', 'crashed'].includes(domain.state ?? '')

/** As libvirt says since the event: it may have been asked before for another reason. */
function control({ domain, incident }: Facts): NonNullable<Domain['control']> | undefined {
  const askedMs = Date.parse(domain?.control?.checkedAt ?? '')
  return askedMs >= Math.floor(Date.parse(incident.eventAt ?? '') / 1000) * 1000 ? domain?.control : undefined
}

function controlWords(facts: Facts): string {
  const { state = 'not asked yet', details } = control(facts) ?? {}
  return details !== undefined && details !== 'none' ? `${state}, ${details}` : state
}

const shown = (action: InstanceAction | undefined): string =>
  action ? `${action.action} at ${action.started}${action.userId === null ? ' by Nova itself' : ' by a user'}` : 'none'

const rules: readonly Rule[] = [
  {
    name: 'NotInNova',
    finding: 'none',
    matches: ({ evidence }) => (evidence.server ? undefined : 'Nova knows no server of this id: it is not ours.'),
    otherwise: () => 'Nova knows the server.'
  },
  {
    name: 'NotOnThisHost',
    finding: 'none',
    matches: ({ evidence: { server }, host }) =>
      server && server.host !== null && server.host !== host ? `Nova has it on ${server.host}.` : undefined,
    otherwise: ({ host }) => `Nova has it on ${host}.`
  },
  {
    name: 'HostShutsDown',
    finding: 'none',
    matches: ({ shuttingDown, incident }) =>
      shuttingDown && incident.kind !== 'crashed' ? 'The host is shutting down: its stop is a part of that.' : undefined,
    otherwise: () => 'The host is not shutting down.'
  },
  {
    name: 'DomainNotKnown',
    finding: 'wait',
    matches: ({ domainKnown }) =>
      domainKnown ? undefined : 'Nobody can see the domain now: servers keep running without libvirt.',
    otherwise: () => 'The agent sees the domains of the host.'
  },
  {
    name: 'Runs',
    finding: 'none',
    matches: facts => (runs(facts) ? `The domain is ${facts.domain?.state} since ${facts.domain?.since}.` : undefined),
    otherwise: ({ domain }) => `The domain is ${domain?.state ?? 'gone'}.`
  },
  {
    name: 'NotConfirmed',
    finding: 'none',
    matches: facts =>
      running.has(facts.domain?.state ?? '') && waitedMs(facts) >= facts.policy.vm.check.limitSeconds * 1000
        ? `The agent still sees it running since ${facts.domain?.since}: the report is not confirmed.`
        : undefined,
    otherwise: () => 'The report is not yet older than it may be.'
  },
  {
    name: 'NotSeenYet',
    finding: 'wait',
    matches: ({ domain }) =>
      running.has(domain?.state ?? '') || domain?.state === 'shutting-down'
        ? `The agent shows it as ${domain?.state}: what was reported is not in its status yet.`
        : undefined,
    otherwise: () => 'The agent shows that it does not run.'
  },
  {
    name: 'Managed',
    finding: 'none',
    matches: facts =>
      control(facts)?.state === 'ok' ? `libvirt was asked at ${control(facts)?.checkedAt}: it can be managed.` : undefined,
    otherwise: facts => `libvirt does not say that it can be managed (${controlWords(facts)}).`
  },
  {
    name: 'ControlNotConfirmed',
    finding: 'wait',
    matches: facts =>
      control(facts)?.state !== 'error'
        ? `libvirt does not confirm that it cannot be managed: ${controlWords(facts)}.`
        : undefined,
    otherwise: facts => `libvirt confirms that it cannot be managed (${controlWords(facts)}).`
  },
  {
    name: 'NovaState',
    finding: 'none',
    matches: ({ evidence: { server } }) =>
      ['active', 'stopped', 'error'].includes(server?.vmState ?? '')
        ? undefined
        : `It is ${server?.status} in Nova: that explains it.`,
    otherwise: ({ evidence: { server } }) => `It is ${server?.status} in Nova.`
  },
  {
    name: 'TaskExplains',
    finding: 'none',
    matches: facts => {
      const task = facts.evidence.server?.taskState ?? ''
      return requestTasks.test(task) ? `Nova is at it: ${task}.` : undefined
    },
    otherwise: ({ evidence: { server } }) => `Its task in Nova is ${server?.taskState ?? 'none'}.`
  },
  {
    name: 'TaskBusy',
    finding: 'wait',
    matches: ({ evidence: { server } }) =>
      server?.taskState === null ? undefined : `Nova is busy with it: ${server?.taskState}.`,
    otherwise: () => 'Nova is not busy with it.'
  },
  {
    name: 'RequestExplains',
    finding: 'none',
    matches: facts => {
      const found = requestBehind(facts)
      return found ? `Somebody asked for it: ${shown(found)} (${found.requestId}).` : undefined
    },
    otherwise: facts => `No request of a user within ${facts.policy.vm.check.requestSeconds} s before, and none is unfinished.`
  },
  {
    name: 'WasStopped',
    finding: 'none',
    matches: facts => {
      const last = lastPower(facts)
      return last?.action === 'stop' ? `It was off before: ${shown(last)}. What was off is never started.` : undefined
    },
    otherwise: facts => `It was on before (${shown(lastPower(facts))}); a stop by Nova itself after the event proves nothing.`
  },
  {
    name: 'Fault',
    finding: 'fault',
    matches: facts =>
      isUncontrolled(facts)
        ? `The domain is ${facts.domain?.state} and cannot be managed (${controlWords(facts)}).`
        : `The domain is ${facts.domain?.state ?? 'gone'} and nobody asked for that.`,
    otherwise: () => ''
  }
]

export function checkFault(facts: Facts): Checked {
  const passedOver: string[] = []
  const inputs = inputsOf(facts)
  // a server that cannot be managed runs: that is no excuse
  const skipped = isUncontrolled(facts) ? aboutRunning : aboutControl
  const asked = rules.filter(({ name }) => !skipped.has(name))
  for (const { name, finding, matches, otherwise } of asked) {
    const reason = matches(facts)
    if (reason !== undefined) return { finding, rule: name, reason, passedOver, inputs }
    passedOver.push(`${name}: ${otherwise(facts)}`)
  }
  throw new Error('the last rule always matches')
}

const aboutRunning = new Set(['Runs', 'NotConfirmed', 'NotSeenYet'])
const aboutControl = new Set(['Managed', 'ControlNotConfirmed'])

export const ruleNames: readonly string[] = rules.map(({ name }) => name)

/** Enough to ask the same again with the same answer (HA-8). */
function inputsOf(facts: Facts): Record<string, string> {
  const { incident, domain, evidence, nowMs, domainKnown, shuttingDown } = facts
  const { server, actions } = evidence
  return {
    event: incident.event ?? incident.kind,
    eventAt: incident.eventAt ?? '',
    askedAt: new Date(nowMs).toISOString(),
    domain: domain ? `${domain.state} since ${domain.since}` : 'gone',
    ...(isUncontrolled(facts) && { control: controlWords(facts) }),
    ...(!domainKnown && { domainKnown: 'no' }),
    ...(shuttingDown && { shuttingDown: 'yes' }),
    server: server
      ? `${server.status}, task ${server.taskState ?? 'none'}, power ${server.powerState}, on ${server.host}${server.fault ? `: ${server.fault.message}`.slice(0, 256) : ''}`
      : 'not in Nova',
    actions: actions.slice(0, 5).map(shown).join('; ') || 'none'
  }
}
