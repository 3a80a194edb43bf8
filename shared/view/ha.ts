// What high availability thinks of a host, in plain words: signs, gates, what was done and why.
import type { Hypervisor } from '../schema/hypervisor.ts'
import { plural, since } from './time.ts'
import type { HaView, Happening, Part, Tone } from './types.ts'

type Ha = NonNullable<NonNullable<Hypervisor['status']>['ha']>
type Decision = NonNullable<Ha['history']>[number]
type Sign = NonNullable<Ha['signals']>[number]
type Incident = NonNullable<Ha['incidents']>[number]

const calm = new Set(['', 'Healthy', 'Alive', 'Ok', 'Normal', 'Up'])
const effects: Record<string, Tone> = { alert: 'warn', disable: 'bad', drain: 'bad' }
const verdicts: Record<string, Tone> = { Pass: 'ok', Hold: 'busy', Block: 'bad', Skip: 'rest' }
const incidentTones: Record<string, Tone> = { Recovered: 'ok', Closed: 'rest', Reported: 'warn', Blocked: 'bad' }

/** `BondLost` → `bond lost` */
export const spoken = (word: string): string => word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()

const joined = (parts: Array<string | false | undefined>): string => parts.filter(Boolean).join(' · ')

function linesOf({ state, since: began, waitingFor, channels = [], observers, fencing, flap, mode }: Ha, now: Date): string[] {
  const lines = [
    state && `The verdict is ${state}${began ? ` since ${since(began, now)}` : ''}.`,
    mode && `The mode is ${mode}.`,
    waitingFor && `It waits for ${waitingFor}.`,
    ...channels.map(
      ({ name, state: says, lastSeen }) =>
        `${name} says ${says ?? 'nothing'}${lastSeen ? `, last ${since(lastSeen, now)} ago` : ''}.`
    ),
    observers?.total && `${observers.agreeing ?? 0} of ${plural(observers.total, 'observer')} agree.`,
    fencing?.state &&
      `Fencing${fencing.method ? ` by ${fencing.method}` : ''}: ${fencing.state}${fencing.attempts ? ` after ${plural(fencing.attempts, 'try').replace('trys', 'tries')}` : ''}${fencing.evidence ? `: ${fencing.evidence}` : ''}.`,
    flap?.count24h &&
      `It failed ${plural(flap.count24h, 'time')} within a day${flap.holdUntil ? `; nothing more before ${flap.holdUntil}` : ''}.`
  ]
  return lines.filter(line => typeof line === 'string' && line !== '') as string[]
}

const ended = new Set(['Recovered', 'Closed'])
const nameOf = ({ server, name = server }: Incident): string => name

/** Somebody else has helped: what is kept of it is history. */
function runsAgain({ server, state, since: noticed = '', eventAt = noticed }: Incident, { status }: Hypervisor): boolean {
  const vm = status?.instances?.find(({ id }) => id === server)
  return state === 'Reported' && vm?.state === 'running' && Date.parse(vm.since ?? '') > Date.parse(eventAt)
}

/** VMs with which something is wrong, in few words: `web-1 crashed and 2 more`. */
export function troubleOf(hypervisor: Hypervisor): string {
  const incidents = hypervisor.status?.ha?.incidents ?? []
  const [first, ...more] = incidents.filter(one => !ended.has(one.state) && !runsAgain(one, hypervisor))
  if (!first) return ''
  return `${nameOf(first)} ${spoken(first.kind)}${more.length > 0 ? ` and ${more.length} more` : ''}`
}

/** Why somebody has to look after a VM, or undefined. */
export function vmNeedsPerson({ status }: Hypervisor): string | undefined {
  const stuck = status?.ha?.incidents?.find(({ state }) => state === 'Blocked')
  return stuck && `${nameOf(stuck)} ${spoken(stuck.kind)}: ${stuck.reason ?? 'it could not be brought back'}`
}

const incidentOf = ({ server, name = server, kind, state, waitingFor, reason, attempts = [] }: Incident): Part => ({
  name,
  tone: incidentTones[state] ?? 'busy',
  line: joined([
    `${spoken(kind)}: ${spoken(state)}`,
    reason,
    attempts.length > 0 && `tried ${plural(attempts.length, 'time')}`,
    waitingFor && `waits for ${waitingFor}`
  ])
})

function decisionOf(host: string, decision: Decision): Happening {
  const { decisionId, kind, server, state, action, reason, startedAt, finishedAt } = decision
  const about = [kind && spoken(kind), server && `of ${server}`].filter(Boolean).join(' ')
  return {
    id: `ha/${decisionId}`,
    time: finishedAt ?? startedAt ?? '',
    tone: state && incidentTones[state] ? incidentTones[state] : 'rest',
    about: host,
    text: joined([about || 'decision', action, state && spoken(state), reason])
  }
}

function signOf({ kind, object, count = 0, since: began, effect, message }: Sign, now: Date): HaView['signals'][number] {
  return {
    name: [spoken(kind), object].filter(Boolean).join(' '),
    tone: effects[effect ?? ''] ?? 'rest',
    line: joined([message, count > 1 && `seen ${count} times`, effect && `asks for: ${effect}`]),
    ...(began !== undefined && { since: since(began, now) })
  }
}

/** Undefined while nothing is there to be told. */
export function haOf({ metadata, status }: Hypervisor, now: Date): HaView | undefined {
  const ha = status?.ha
  if (!ha) return undefined
  const signals = (ha.signals ?? []).map(signal => signOf(signal, now))
  const incidents = (ha.incidents ?? []).map(incidentOf)
  const history = (ha.history ?? []).map(one => decisionOf(metadata.name, one))
  const open = !calm.has(ha.state ?? '')
  const worst = [...signals, ...incidents].some(({ tone }) => tone === 'bad')
  return {
    tone: worst || (open && ha.state !== 'Suspect') ? 'bad' : open || signals.length + incidents.length > 0 ? 'warn' : 'ok',
    word: ha.state ?? 'no verdict yet',
    lines: linesOf(ha, now),
    signals,
    gates: (ha.gates ?? []).map(({ name, verdict, reason, value, limit }) => ({
      name: spoken(name),
      tone: verdicts[verdict] ?? 'rest',
      line: joined([verdict, reason, value !== undefined && `${value}${limit === undefined ? '' : ` of ${limit}`}`])
    })),
    incidents,
    history: history.toSorted((a, b) => b.time.localeCompare(a.time))
  }
}
