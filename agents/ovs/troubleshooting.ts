// Captures and the endpoints that start them, wired to one agent.
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Client } from 'ovsdb-client'
import { captureEnded, captureStarted } from '../../shared/events/ovs.ts'
import type { Kube } from '../../shared/kube/index.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import type { Spool } from '../../shared/runtime/spool.ts'
import type { Announcer } from './announce.ts'
import { type CaptureState, Captures } from './capture/captures.ts'
import { endCaptures } from './capture/rows.ts'
import type { Config } from './config.ts'
import type { Daemons } from './daemons.ts'
import { accessCheck } from './diagnostics/access.ts'
import { type Certificate, readCertificate, sameCertificate } from './diagnostics/certificate.ts'
import { limits } from './diagnostics/limits.ts'
import type { DiagnosticsOptions } from './diagnostics/server.ts'
import { poll } from './inbox.ts'
import type { Judge } from './judge.ts'
import type { AgentMetrics } from './metrics.ts'
import type { Fact } from './observed.ts'

export interface Parts {
  readonly given: Config
  readonly db: Client
  readonly daemons: Daemons
  readonly kube: Kube
  readonly judge: Judge
  readonly events: Spool
  readonly announcer: Announcer
  readonly metrics: AgentMetrics
  readonly clock: () => Date
  readonly log: Logger
  readonly certificatePollMs: number
  readonly signal: AbortSignal
}

export interface Troubleshooting {
  /** What an agent that was killed left behind is taken away, once, when the database is there (OV-63). */
  readonly leftovers: AsyncGenerator<Fact>
  /** A certificate that is mounted later, or renewed, is used without a restart. */
  readonly certificates: AsyncGenerator<Fact>
  close(): Promise<void>
}

export async function troubleshooting(parts: Parts): Promise<Troubleshooting> {
  const { given, db, clock, log, signal, certificatePollMs } = parts
  const captures = new Captures({ db, node: given.nodeName, clock, log, onChange: state => tellCapture(parts, state) })
  let server: Server | undefined
  let shown: Certificate | undefined
  const refresh = async (): Promise<Fact> => {
    const found = await readCertificate(given.diagCertFile, given.diagKeyFile, log)
    if (!found || sameCertificate(shown, found)) return {}
    const { serveDiagnostics, renew } = await import('./diagnostics/server.ts') // most nodes have no certificate for it
    if (signal.aborted) return {}
    if (server) renew(server, found)
    else server = await serveDiagnostics(endpoints(parts, captures, found))
    shown = found
    log.info({ port: (server.address() as AddressInfo).port }, 'troubleshooting endpoints have a new certificate')
    return {}
  }
  await refresh()
  return {
    leftovers: findLeftovers(parts),
    certificates: poll(() => certificatePollMs, signal, refresh),
    async close() {
      server?.closeAllConnections()
      server?.close()
      await captures.close()
    }
  }
}

function endpoints(parts: Parts, captures: Captures, certificate: Certificate): DiagnosticsOptions {
  const { given, kube, judge, daemons, announcer, metrics, clock, log } = parts
  return {
    certificate,
    bindAddress: given.diagBindAddress,
    admit: accessCheck(kube, given.namespace, given.nodeName),
    limits: limits(() => clock().getTime()),
    sight: { daemons, observed: () => judge.observed, health: () => judge.health },
    captures,
    mirrorPorts: given.mirrorPorts,
    log,
    onTrace: (user, bridge) =>
      announcer.say({ type: 'Normal', reason: 'Trace', action: 'Trace', note: `${user} traced a flow on ${bridge}` }),
    count: (kind, verdict) => metrics.diagnostics.inc({ kind, verdict })
  }
}

async function* findLeftovers({ db, log, signal }: Parts): AsyncGenerator<Fact> {
  while (!signal.aborted) {
    try {
      const leftovers = await endCaptures(db)
      if (leftovers.length > 0) log.warn({ leftovers }, 'captures were left over, and are removed now')
      yield { leftovers }
      return
    } catch (err) {
      if (!signal.aborted) log.info({ err }, 'leftovers are looked for when the database answers') // its own waiting spaces the tries
    }
  }
}

function tellCapture({ given, events, announcer, clock }: Parts, state: CaptureState): void {
  const { id, mode, bridge, port, user, startedAt, endReason, packets } = state
  const running = state.state === 'running'
  const object = port ?? bridge
  const kind = running ? captureStarted : captureEnded
  void events.put({
    kind,
    id: `${given.nodeName}/${object}/${kind.type}/${id}`,
    subject: object,
    partitionkey: given.nodeName,
    time: clock().toISOString(),
    data: {
      node: given.nodeName,
      object,
      before: running ? 'none' : 'running',
      after: running ? 'running' : 'ended',
      reason: endReason ?? mode,
      detectedAt: startedAt,
      evidence: { id, user, mode, bridge, ...(!running && { packets: String(packets) }) }
    }
  })
  const note = running
    ? `${user} started a capture (${mode}) on ${object}`
    : `the capture of ${user} on ${object} ended: ${endReason}, ${packets} packets`
  announcer.say({ type: 'Normal', reason: running ? 'CaptureStarted' : 'CaptureEnded', action: 'Capture', note })
}
