import { join } from 'node:path'
import { parseUri } from 'node-libvirt'
import { heartbeatSent, uptimeReported } from '../../shared/events/libvirt.ts'
import { connect } from '../../shared/kube/index.ts'
import { agentManager } from '../../shared/schema/hypervisor-agent-fields.ts'
import type { Agent, AgentPlatform } from '../../shared/runtime/agent.ts'
import { emitter } from '../../shared/runtime/emitter.ts'
import { spool } from '../../shared/runtime/spool.ts'
import { followChosen, isChosen, type Chosen } from './chosen.ts'
import { config, type Config } from './config.ts'
import { step } from './domains.ts'
import { followHost } from './host/follow.ts'
import { readBootId, readUptime } from './host/os.ts'
import { activeDomains, type Known } from './known.ts'
import { learn } from './learn.ts'
import type { Fact } from './libvirt/fact.ts'
import { watch } from './libvirt/watch.ts'
import { agentMetrics, type AgentMetrics } from './metrics.ts'
import { followObject } from './object.ts'
import { sender, type Sender } from './sender.ts'
import { fullReport, toEvents, type Context, type Message } from './to-event.ts'
import { openStore, type Store } from './work/store.ts'

const version = '0.1.0'

/** All that the parts of one agent share. Nothing of it lives outside: many agents run in one process. */
export interface Wiring extends Pick<AgentPlatform, 'log' | 'clock' | 'signal' | 'metrics'> {
  config: Config
  known: Known
  store: Store
  counts: AgentMetrics
  send: Sender
  epoch: () => number
  /** Something that belongs in the status may have changed. */
  changed: () => void
  /** Tells of the host, not of a domain. */
  tell: (kind: Message['kind'], data?: object) => void
}

export const hypervisorAgent: Agent<typeof config> = {
  name: 'hypervisor-agent',
  config,
  async run(config, { log, metrics, clock, signal, ready }) {
    refusePlainTcp(config)
    const { nodeName: host, kSink: sink, hostRoot, stateFolder } = config
    const known = firstKnown(config, await readBootId(hostRoot), clock())
    const store = await openStore(join(stateFolder, 'state.json'), err => {
      log.error({ err }, 'the state file cannot be used')
      known.problems.set('state', `state: ${err.message}`)
    })
    const source = `/hypervisor-agent/${host}`
    const emit = emitter({
      sink,
      source,
      retry: { attempts: 1, minDelayMs: 0, maxDelayMs: 0 },
      timeoutMs: config.emitTimeout,
      log,
      metrics,
      signal
    })
    const kept = await spool({
      folder: join(stateFolder, 'spool'),
      maxBytes: config.spoolBytes,
      send: emit,
      log,
      metrics,
      clock,
      signal
    })
    let epoch = Math.max((store.read().epoch ?? 0) + 1, Math.floor(clock().getTime() / 1000))
    await store.write({ epoch })
    const send = sender({
      host,
      spool: kept,
      emit,
      first: Math.max(clock().getTime() * 1000, epoch * 1_000_000, store.read().sequence ?? 0),
      reserve: sequence => void store.write({ sequence })
    })
    const changes = new Set<() => void>()
    const wiring: Wiring = {
      config,
      known,
      store,
      log,
      clock,
      signal,
      metrics,
      send,
      counts: agentMetrics(metrics, known),
      epoch: () => epoch,
      changed: () => {
        if (kept.degraded === undefined) known.problems.delete('spool')
        else known.problems.set('spool', kept.degraded)
        for (const change of changes) change()
      },
      tell: (kind, data = {}) => void send.tell({ kind, data: { ...contextOf(wiring), ...data } }, epoch)
    }
    const kube = await connect({
      manager: agentManager,
      log,
      ...(config.kubeconfig !== undefined && { kubeconfig: config.kubeconfig })
    })
    if (signal.aborted) {
      kube.close()
      return kept.closed // stopped while it started: nothing that follows would hear of it
    }
    signal.addEventListener('abort', () => kube.close(), { once: true })
    const hostPart = followHost(wiring)
    const object = followObject(wiring, kube, hostPart)
    changes.add(object.changed)
    ready()
    const nextEpoch = () => {
      epoch += 1
      void store.write({ epoch })
      return epoch
    }
    await Promise.all([
      kept.closed,
      followLibvirt(wiring, nextEpoch, hostPart.mayConnect),
      hostPart.run(),
      object.run(),
      every(config.heartbeat, signal, () => beat(wiring)),
      every(config.report, signal, async () => report(wiring))
    ])
    hostPart.close()
  }
}

function refusePlainTcp({ libvirtUri, allowPlainTcp }: Config): void {
  if (parseUri(libvirtUri).target.transport === 'tcp' && !allowPlainTcp)
    throw new Error(`${libvirtUri} is neither encrypted nor authenticated: use +unix or +tls, or set ALLOW_PLAIN_TCP=true`)
}

function firstKnown({ nodeName: host, libvirtUri, countInactive, allowPlainTcp }: Config, bootId: string, now: Date): Known {
  const plain = parseUri(libvirtUri).target.transport === 'tcp' && allowPlainTcp
  return {
    host,
    version,
    libvirtUri,
    bootId,
    uptimeSeconds: 0,
    sequence: 0,
    lastHeartbeat: `${now.toISOString().slice(0, 19)}Z`,
    units: [],
    problems: new Map(plain ? [['tcp', 'libvirt is reached over TCP without authentication (NA-29)']] : []),
    countInactive
  }
}

export const contextOf = ({ known: { host, bootId }, epoch, clock }: Wiring): Context => ({
  host,
  bootId,
  epoch: epoch(),
  at: clock().toISOString()
})

async function followLibvirt(
  wiring: Wiring,
  nextEpoch: () => number,
  mayConnect: (signal: AbortSignal) => Promise<void>
): Promise<void> {
  const { config, known, log, clock, signal, counts, send, changed } = wiring
  let chosen: Chosen = new Set()
  void followChosen({ file: config.eventKindsFile, log, signal }, next => (chosen = next))
  const facts = watch({
    uri: config.libvirtUri,
    mayConnect,
    nextEpoch,
    clock,
    log,
    signal,
    keepalive: { intervalMs: config.keepalive, count: 3 },
    fullCheckMs: config.fullCheck
  })
  for await (const seen of facts) {
    // never there since the start is as lost as gone
    const fact: Fact =
      seen.kind === 'unreachable' && known.connection === undefined
        ? { kind: 'lost', epoch: wiring.epoch(), message: seen.message }
        : seen
    const at = 'at' in fact ? fact.at.toISOString() : clock().toISOString()
    const taken = step(known.domains, fact, at)
    if (known.domains !== undefined || fact.kind === 'snapshot') known.domains = taken.domains
    learn(known, fact, counts)
    const silent = !isChosen(chosen, fact)
    for (const message of toEvents(fact, taken, { ...contextOf(wiring), at })) {
      if (silent && message.server !== undefined) continue // the report of instances is no event of libvirt's
      counts.told.inc({ type: message.kind.type })
      await send.tell(message, 'epoch' in fact ? fact.epoch : wiring.epoch())
    }
    if (fact.kind === 'connected') tellUptime(wiring)
    changed()
  }
}

async function beat(wiring: Wiring): Promise<void> {
  const { known, config, send, counts, log, clock } = wiring
  known.uptimeSeconds = await readUptime(config.hostRoot)
  known.lastHeartbeat = `${clock().toISOString().slice(0, 19)}Z`
  const data = { ...contextOf(wiring), uptimeSeconds: known.uptimeSeconds, domains: activeDomains(known) }
  // not awaited: a slow broker must not slow the heart
  send.beat({ kind: heartbeatSent, data }, wiring.epoch()).catch(err => {
    counts.missedBeats.inc()
    log.debug({ err }, 'a heartbeat was not taken')
  })
  known.sequence = send.sequence
}

const tellUptime = ({ known, tell }: Wiring): void => tell(uptimeReported, { uptimeSeconds: known.uptimeSeconds })

function report(wiring: Wiring): void {
  const { known, send, epoch } = wiring
  tellUptime(wiring)
  if (known.domains !== undefined) void send.tell(fullReport(known.domains, contextOf(wiring)), epoch())
}

/** At once, and then again and again. */
function every(ms: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const turn = () => void work().catch(reject)
    const timer = setInterval(turn, ms)
    turn()
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(timer)
        resolve()
      },
      { once: true }
    )
  })
}
