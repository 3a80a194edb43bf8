// GET /explain/<host>: what is known, what was decided from it and why, and what would be done now. Read only; the API server says who may ask.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Kube } from '../../shared/kube/connect.ts'
import { decide, modesOf } from './decide.ts'
import type { Engine } from './engine.ts'
import type { Decision, Incident, Seen, Signal } from './seen.ts'

export interface ExplainDeps {
  kube: Pick<Kube, 'reviewToken' | 'reviewAccess'>
  engine: Pick<Engine, 'seen'>
  clock: () => Date
  explainTo: 'allowed' | 'everybody'
}

export async function explain(request: IncomingMessage, response: ServerResponse, deps: ExplainDeps): Promise<void> {
  const answer = (status: number, type: string, body: string): void =>
    void response
      .writeHead(status, { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
      .end(body)
  if (request.method !== 'GET') return answer(405, 'text/plain', 'only GET\n')
  const host = /^\/explain\/([a-z0-9.-]{1,253})$/.exec((request.url ?? '').split('?', 1)[0] ?? '')?.[1]
  if (host === undefined) return answer(404, 'text/plain', 'ask for /explain/<host>\n')
  const refusal = deps.explainTo === 'everybody' ? undefined : await refusalOf(request.headers.authorization, host, deps.kube)
  if (refusal) return answer(refusal.status, 'text/plain', `${refusal.words}\n`)
  const seen = await deps.engine.seen(host)
  if (!seen) return answer(404, 'text/plain', `there is no host ${host}\n`)
  const explanation = explanationOf(seen, deps.clock().getTime())
  if (request.headers.accept?.includes('text/plain')) return answer(200, 'text/plain; charset=utf-8', inWords(explanation))
  answer(200, 'application/json', `${JSON.stringify(explanation, undefined, 2)}\n`)
}

async function refusalOf(
  authorization: string | undefined,
  name: string,
  kube: ExplainDeps['kube']
): Promise<{ status: number; words: string } | undefined> {
  const token = /^Bearer ([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) return { status: 401, words: 'a bearer token is needed' }
  const { authenticated, user } = await kube.reviewToken(token)
  if (!authenticated || !user) return { status: 401, words: 'the token is not valid' }
  const { allowed } = await kube.reviewAccess(user, { group: 'kvm.cloud.sap', resource: 'hypervisors', verb: 'get', name })
  return allowed ? undefined : { status: 403, words: `${user.username} may not get the hypervisor ${name}` }
}

export interface Explanation {
  host: string
  at: string
  modes: Record<'vm' | 'signals', string>
  state: string
  signals: readonly Signal[]
  incidents: readonly Incident[]
  /** what the next look would do, if nothing changes until then */
  next: { at: string | undefined; would: readonly string[] }
  history: readonly Decision[]
}

/** By the same functions as the real path (HA-48). */
export function explanationOf(seen: Seen, nowMs: number): Explanation {
  const { hypervisor, policy, observed } = seen
  const { ha, calls } = decide(seen, nowMs)
  return {
    host: hypervisor.metadata.name,
    at: new Date(nowMs).toISOString(),
    modes: modesOf(hypervisor, policy, observed),
    state: ha.state ?? 'unknown',
    signals: ha.signals ?? [],
    incidents: hypervisor.status?.ha?.incidents ?? [],
    next: { at: ha.nextCheckAt, would: calls.map(call => ('server' in call ? `${call.do} ${call.server}` : call.do)) },
    history: hypervisor.status?.ha?.history ?? []
  }
}

/** For people. */
export function inWords({ host, at, modes, state, signals, incidents, next, history }: Explanation): string {
  const lines = [
    `${host} at ${at}: ${state}. Servers: mode ${modes.vm}; signals: mode ${modes.signals}.`,
    '',
    'Signals',
    ...or(
      signals.map(
        ({ kind, object, since, effect, message }) =>
          `${kind}${object ? ` ${object}` : ''} since ${since} (${effect}): ${message}`
      )
    ),
    '',
    'Servers',
    ...or(
      incidents.map(
        ({ server, state, kind, event, eventAt, rule, reason, waitingFor }) =>
          `${server} ${state}: ${kind} (${event} at ${eventAt})${rule ? `; ${rule}: ${reason}` : ''}${waitingFor ? `; waits for ${waitingFor}` : ''}`
      )
    ),
    '',
    `Next${next.at ? ` at ${next.at}` : ''}: ${next.would.join(', ') || 'nothing'}`,
    '',
    'Decisions, the newest last',
    ...or(history.flatMap(decisionInWords))
  ]
  return `${lines.join('\n')}\n`
}

const or = (lines: readonly string[]): string[] => (lines.length > 0 ? lines.map(line => `  ${line}`) : ['  none'])

const decisionInWords = ({
  decisionId,
  server,
  kind,
  state,
  action,
  rule,
  reason,
  passedOver = [],
  inputs = {},
  finishedAt
}: Decision): string[] => [
  `${finishedAt} ${decisionId} ${kind}${server ? ` of ${server}` : ''}: ${state}, ${action}`,
  `  because ${rule}: ${reason}`,
  ...passedOver.map(words => `  not ${words}`),
  `  from ${Object.entries(inputs)
    .map(([name, value]) => `${name}: ${value}`)
    .join(' | ')}`
]
