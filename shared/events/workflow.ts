import { Type, type TProperties } from 'typebox'
import { event, type EventKind } from './kind.ts'

// The trail of what Drover itself did: evictions (EV-27), host failures (HA-50), Machines (V2), vanished nodes (HV-26).
const name = Type.String({ minLength: 1 })

function told<P extends TProperties>(
  type: string,
  by: string,
  properties: P,
  summary: string,
  reactedBy: readonly string[] = []
) {
  return event({ type, data: Type.Object(properties), source: `/${by}`, emittedBy: `functions/${by}`, reactedBy, summary })
}

const evicted = { eviction: name, host: name }
const moved = { ...evicted, server: name, destination: Type.Optional(Type.String()), reason: Type.Optional(Type.String()) }
export const evictionStarted = told('sap.cloud.kvm.eviction.started.v1', 'evict', evicted, 'a host is being emptied')
export const serverMoved = told('sap.cloud.kvm.server.moved.v1', 'evict', moved, 'a server left the host, proven by Nova')
// by evict with the Eviction, by ha without
export const serverBlocked = event({
  ...told(
    'sap.cloud.kvm.server.blocked.v1',
    'evict',
    { ...moved, eviction: Type.Optional(name) },
    'a server cannot be moved or recovered without a person'
  ),
  emittedBy: 'functions/evict, functions/ha'
})
export const evictionFinished = told(
  'sap.cloud.kvm.eviction.finished.v1',
  'evict',
  {
    ...evicted,
    verdict: name,
    servers: Type.Array(Type.Object({ id: name, state: name, reason: Type.Optional(Type.String()) }))
  },
  'an eviction ended, with its verdict and every server'
)

const decision = { host: name, decision: name, reason: Type.Optional(Type.String()) }
const ha = (noun: string, summary: string) => told(`sap.cloud.kvm.${noun}.v1`, 'ha', decision, summary)
export const verdictChanged = ha('verdict.changed', 'the verdict on a host changed')
export const gateEvaluated = ha('gate.evaluated', 'the safety gates of a decision were evaluated')
export const fenceRequested = ha('fence.requested', 'a fencing order was given')
export const fenceProven = ha('fence.proven', 'a host is proven to be off')
export const fenceFailed = ha('fence.failed', 'every fencing method failed')
export const decisionClosed = ha('decision.closed', 'a decision came to its end')
const rescued = { host: name, server: name, reason: Type.Optional(Type.String()) }
export const serverEvacuated = told(
  'sap.cloud.kvm.server.evacuated.v1',
  'ha',
  rescued,
  'a server runs elsewhere after its host died'
)
export const serverRecovered = told('sap.cloud.kvm.server.recovered.v1', 'ha', rescued, 'a server runs again after a fault')

export const nodeVanished = told(
  'sap.cloud.kvm.node.vanished.v1',
  'hypervisor',
  { host: name, numInstances: Type.Integer(), instances: Type.Array(Type.String()), lastReady: Type.Optional(Type.String()) },
  'a Node went away while VMs were still known on it; the last known state',
  ['ha']
)

const transition = {
  uid: name,
  generation: Type.Integer(),
  before: Type.Optional(Type.String()),
  after: Type.String(),
  reason: Type.String(),
  nodeName: Type.Optional(Type.String())
}
const machine = (verb: string, summary: string) => told(`io.vitistack.machine.${verb}.v1`, 'machine', transition, summary)
export const machineCreated = machine('created', 'a Machine was accepted and its objects made')
export const machineStarted = machine('started', 'a Machine runs')
export const machineStopped = machine('stopped', 'a Machine stopped')
export const machineFailed = machine('failed', 'a Machine failed')
export const machineRecovered = machine('recovered', 'a failed Machine is well again')

export const workflowKinds: readonly EventKind[] = [
  evictionStarted,
  serverMoved,
  serverBlocked,
  evictionFinished,
  verdictChanged,
  gateEvaluated,
  fenceRequested,
  fenceProven,
  fenceFailed,
  decisionClosed,
  serverEvacuated,
  serverRecovered,
  nodeVanished,
  machineCreated,
  machineStarted,
  machineStopped,
  machineFailed,
  machineRecovered
]
