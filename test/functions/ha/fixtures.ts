// A host, its servers and what Nova says of them, for the pure tests of functions/ha.
import type { InstanceAction, Server } from 'openstack-sdk-lite'
import type { Heard } from '../../../functions/ha/heard.ts'
import { hear } from '../../../functions/ha/reactions.ts'
import { defaultPolicy, type Policy } from '../../../functions/ha/policy.ts'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import type { Evidence, Ha, Seen } from '../../../functions/ha/seen.ts'
import { decide, type Step } from '../../../functions/ha/decide.ts'
import type { EventKind } from '../../../shared/events/kind.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { condition, hypervisor, type Status } from '../host-life/fixtures.ts'

export const startMs = Date.parse('2026-11-16T12:00:00Z')
export const iso = (ms: number): string => new Date(ms).toISOString()
export const drover: Policy = parsePolicy('mode: drover')

/** as `stopped/shutdown` of libvirt, and who began it */
export const life = (detail: string, cause?: string) => {
  const [event, rest] = detail.split('/')
  return { event, detail: rest, ...(cause && { cause }) }
}

export const serverId = (n = 1): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

export const novaServer = (more: Partial<Server> = {}): Server => ({
  id: serverId(),
  name: 'one',
  status: 'ACTIVE',
  vmState: 'active',
  taskState: null,
  powerState: 1,
  host: 'host-1',
  hypervisorHostname: 'host-1',
  instanceName: 'instance-1',
  zone: 'z1',
  projectId: 'p',
  userId: 'u',
  created: null,
  updated: null,
  launchedAt: null,
  flavor: { name: 'small', vcpus: 1, ramMiB: 512, diskGiB: 1, extraSpecs: {} },
  imageId: null,
  metadata: {},
  tags: [],
  groups: [],
  volumes: [],
  locked: false,
  hostStatus: 'UP',
  fault: null,
  partial: false,
  ...more
})

/** By a user, unless said otherwise; Nova writes its times without a zone. */
export const action = (name: string, atMs: number, more: Partial<InstanceAction> = {}): InstanceAction => ({
  requestId: `req-${name}-${atMs}`,
  action: name,
  server: serverId(),
  userId: 'jane',
  projectId: 'p',
  started: iso(atMs).slice(0, 19),
  updated: null,
  message: null,
  ...more
})

export const evidence = (
  server: Partial<Server> | 'gone' = {},
  actions: InstanceAction[] = [],
  steps: Evidence['steps'] = new Map()
): Evidence => ({
  server: server === 'gone' ? undefined : novaServer(server),
  actions: actions.toSorted((a, b) => b.started.localeCompare(a.started)),
  steps
})

export const created = action('create', startMs - 86_400_000)

export interface World {
  nowMs: number
  policy: Policy
  hypervisor: Hypervisor
  ovsNode: OVSNode | undefined
  evidence: Map<string, Evidence>
  service: Seen['service']
  node: Seen['node']
  eviction: Seen['eviction']
  fleet: Seen['fleet']
  observed: boolean
  outage: string | undefined
  heard: Heard[]
  /** what a look at this moment sees */
  seen(): Seen
  steps: Step[]
  ha: Ha
  /** an event of the agent, as it comes */
  tell(kind: EventKind, data?: Record<string, unknown>, atMs?: number): World
  domain(state: string | undefined, sinceMs?: number, server?: string): World
  /** what libvirt says when the agent asks it now whether it can manage the domain */
  control(state: string, details?: string): World
  nova(server?: Partial<Server> | 'gone', ...actions: InstanceAction[]): World
  /** whether Nova hears what is asked for; else the process died before the call */
  calling: boolean
  /** one look */
  look(): Step
  /** looks until the time has passed, whenever one is due */
  pass(seconds: number): World
}

export function world(status: Partial<Status> = {}, policy = drover): World {
  const it: World = {
    nowMs: startMs,
    policy,
    hypervisor: hypervisor(
      {},
      {
        instances: [{ id: serverId(), name: 'instance-1', active: true, state: 'running', since: iso(startMs - 86_400_000) }],
        numInstances: 1,
        agent: { bootId: 'boot-1' },
        conditions: [condition('Onboarding', 'False'), condition('LibVirtConnection', 'True', 'Connected')],
        ...status
      }
    ),
    ovsNode: undefined,
    evidence: new Map([[serverId(), evidence({}, [created])]]),
    service: {
      id: 'service-id',
      host: 'host-1',
      binary: 'nova-compute',
      zone: 'z1',
      status: 'enabled',
      state: 'up',
      forcedDown: false,
      disabledReason: null,
      updated: null
    },
    node: undefined,
    eviction: undefined,
    fleet: [],
    observed: false,
    outage: undefined,
    heard: [],
    steps: [],
    calling: true,
    get ha() {
      return it.hypervisor.status?.ha ?? {}
    },
    tell(kind, data = {}, atMs = it.nowMs) {
      const base = { host: 'host-1', at: iso(atMs), bootId: 'boot-1', epoch: 1, server: serverId(), name: 'instance-1' }
      it.heard.push(...hear(kind, { ...base, ...data }, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', it.policy))
      return it
    },
    domain(state, sinceMs = it.nowMs, server = serverId()) {
      const others = (it.hypervisor.status?.instances ?? []).filter(({ id }) => id !== server)
      const active = state === 'running' || state === 'paused'
      const mine = state === undefined ? [] : [{ id: server, name: 'instance-1', active, state, since: iso(sinceMs) }]
      it.hypervisor = { ...it.hypervisor, status: { numInstances: 0, ...it.hypervisor.status, instances: [...others, ...mine] } }
      return it
    },
    control(state, details = 'none') {
      const control = { state, details, checkedAt: iso(it.nowMs) }
      const instances = it.hypervisor.status?.instances?.map(one => (one.id === serverId() ? { ...one, control } : one)) ?? []
      it.hypervisor = { ...it.hypervisor, status: { numInstances: 0, ...it.hypervisor.status, instances } }
      return it
    },
    nova(server, ...actions) {
      const id = (server === 'gone' ? undefined : server?.id) ?? serverId()
      it.evidence.set(id, evidence(server, [created, ...actions]))
      return it
    },
    seen() {
      const { hypervisor, ovsNode, node, heard, evidence, outage, service, eviction, fleet, policy, observed, nowMs } = it
      const objects = { hypervisor, ovsNode, node, eviction, fleet }
      return { ...objects, nova: true, askedMs: nowMs, heard, evidence, outage, service, policy, observed }
    },
    look() {
      const { hypervisor } = it
      const step = decide(it.seen(), it.nowMs)
      it.heard = []
      it.steps.push(step)
      for (const call of it.calling ? step.calls : []) {
        const known = call.do === 'restart' ? it.evidence.get(call.server) : undefined
        if (known)
          it.evidence.set(call.do === 'restart' ? call.server : '', {
            ...known,
            actions: [action('reboot', it.nowMs), ...known.actions]
          })
      }
      // as the API server would hand it out again
      const ha = JSON.parse(JSON.stringify(step.ha)) as Ha
      it.hypervisor = { ...hypervisor, status: { numInstances: 0, ...hypervisor.status, ha } }
      return step
    },
    pass(seconds) {
      const untilMs = it.nowMs + seconds * 1000
      it.look()
      for (;;) {
        const next = Date.parse(it.ha.nextCheckAt ?? '')
        if (Number.isNaN(next) || next > untilMs) break
        it.nowMs = Math.max(next, it.nowMs + 1)
        it.look()
      }
      it.nowMs = Math.max(untilMs, it.nowMs)
      return it
    }
  }
  return it
}

export const calls = ({ steps }: World): string[] =>
  steps.flatMap(({ calls }) => calls.map(call => ('server' in call ? `${call.do} ${call.server.slice(-2)}` : call.do)))

export { defaultPolicy }
