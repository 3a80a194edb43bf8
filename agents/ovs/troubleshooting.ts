// Captures and the endpoints that start them, wired to one agent.
import { existsSync } from 'node:fs'
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
import { accessCheck } from './diagnostics/access.ts'
import { limits } from './diagnostics/limits.ts'
import type { Judge } from './judge.ts'
import type { AgentMetrics } from './metrics.ts'
import type { Fact } from './observed.ts'

export interface Parts {
  readonly given: Config
  readonly db: Client
  readonly kube: Kube
  readonly judge: Judge
  readonly events: Spool
  readonly announcer: Announcer
  readonly metrics: AgentMetrics
  readonly clock: () => Date
  readonly log: Logger
  readonly signal: AbortSignal
}

export interface Troubleshooting {
  /** What an agent that was killed left behind is taken away, once, when the database is there (OV-63). */
  readonly leftovers: AsyncGenerator<Fact>
  close(): Promise<void>
}

export async function troubleshooting(parts: Parts): Promise<Troubleshooting> {
  const { given, db, kube, judge, announcer, metrics, clock, log } = parts
  const captures = new Captures({ db, node: given.nodeName, clock, log, onChange: state => tellCapture(parts, state) })
  let server: Server | undefined
  if (existsSync(given.diagCertFile) && existsSync(given.diagKeyFile)) {
    const { serveDiagnostics } = await import('./diagnostics/server.ts') // most nodes have no certificate for it
    server = await serveDiagnostics({
      certFile: given.diagCertFile,
      keyFile: given.diagKeyFile,
      bindAddress: given.diagBindAddress,
      admit: accessCheck(kube, given.namespace, given.nodeName),
      limits: limits(() => clock().getTime()),
      sight: {
        ovsRunDir: given.ovsRunDir,
        ovnRunDir: given.ovnRunDir,
        observed: () => judge.observed,
        health: () => judge.health
      },
      captures,
      mirrorPorts: given.mirrorPorts,
      log,
      onTrace: (user, bridge) =>
        announcer.say({ type: 'Normal', reason: 'Trace', action: 'Trace', note: `${user} traced a flow on ${bridge}` }),
      count: (kind, verdict) => metrics.diagnostics.inc({ kind, verdict })
    })
    log.info({ port: (server.address() as AddressInfo).port }, 'troubleshooting endpoints')
  }
  return {
    leftovers: findLeftovers(parts),
    async close() {
      server?.closeAllConnections()
      server?.close()
      await captures.close()
    }
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
