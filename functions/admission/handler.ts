import { Type } from 'typebox'
import { defaultPolicy } from '../../shared/rules/asked.ts'
import { stampFor, stampPatch } from '../../shared/rules/maintenance-stamp.ts'
import type { Verdict } from '../../shared/rules/rule.ts'
import { Duration } from '../../shared/runtime/config.ts'
import { defineFunction } from '../../shared/runtime/function.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { isRecord } from '../../shared/schema/openapi.ts'
import { route, type Edge } from './edge.ts'
import { judge, type Bench } from './judge.ts'
import { recorder, type Record } from './record.ts'
import { allow, answer, answerPatch, type Review } from './review.ts'

const identities = (list: readonly string[], description: string) =>
  Type.Array(Type.String(), { default: [...list], description })

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  enforce: Type.Boolean({ default: false, description: 'whether objections (HV-11…13) refuse instead of warning' }),
  haMode: Type.Enum(['drover', 'observe', 'external', 'off'], {
    default: 'drover',
    description: 'who is in charge of high availability'
  }),
  haIdentities: identities(defaultPolicy.haIdentities, 'who may set maintenance: ha and make evacuations'),
  terminationIdentities: identities(defaultPolicy.terminationIdentities, 'who may set maintenance: termination'),
  agentIdentities: identities(defaultPolicy.agentIdentities, 'agents of nodes, bound to the objects of their node'),
  maxUnavailable: Type.Optional(
    Type.String({ pattern: '^\\d{1,6}%?$', description: 'hosts of an aggregate that may be away, where it states none' })
  ),
  architecture: Type.Enum(['amd64', 'arm64'], { default: 'amd64', description: 'of the nodes that run Machines' }),
  allowI440fx: Type.Boolean({ default: false, description: 'whether KubeVirt is configured to take pc-i440fx' }),
  lookupBudget: Duration({ default: '200ms', description: 'time for looking up Secrets and permissions (A19)' }),
  staleAfter: Duration({ default: '60s', description: 'how long what was seen is believed while nothing can be watched (A19)' }),
  maxReviewBytes: Type.Integer({ minimum: 1024, default: 8 * 1024 * 1024, description: 'largest review that is read' })
})

export interface Deps extends Edge, Bench {
  clock: () => Date
  record: Record
}

export function review(asked: Review, deps: Deps): string | Promise<string> {
  const startedAt = performance.now()
  const told = (verdict: Verdict): string => {
    deps.record(asked, verdict, startedAt)
    return answer(asked.uid, verdict)
  }
  const verdict = judge(asked, deps)
  return 'violations' in verdict ? told(verdict) : verdict.then(told)
}

/** HV-12. Whatever is not a readable Hypervisor is left for the validating webhook to refuse. */
export function stamp({ uid, resource, subresource, object, old, user }: Review, { clock }: Deps): string {
  const isHost = resource === 'kvm.cloud.sap/hypervisors' && subresource === undefined
  if (!isHost || !isRecord(object) || !isRecord(object.metadata)) return allow(uid)
  const host = object as unknown as Hypervisor
  const before = isRecord(old) ? (old as unknown as Hypervisor) : undefined
  return answerPatch(uid, stampPatch(host, stampFor(host, before, user.username, clock())))
}

export default defineFunction({
  name: 'admission',
  config,

  async open(
    { kubeconfig, architecture, allowI440fx, lookupBudget, staleAfter, maxReviewBytes, ...policy },
    platform
  ): Promise<Deps> {
    const { clock, log, metrics, signal, onClose } = platform
    const { connect } = await import('../../shared/kube/index.ts')
    const { openKnowledge } = await import('./knowledge.ts')
    const kube = await connect({ manager: 'drover-admission', log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const knowledge = await openKnowledge(kube, lookupBudget, { signal, log, clock, staleAfterMs: staleAfter })
    return {
      clock,
      log,
      record: recorder(metrics, log),
      maxBytes: maxReviewBytes,
      knowledge,
      policy,
      options: { architecture, allowI440fx }
    }
  },

  reactions: [],
  routes: { '/admit': route(review), '/stamp': route(stamp) }
})
