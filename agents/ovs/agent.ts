import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { open } from 'ovsdb-client'
import { connect, findCondition } from '../../shared/kube/index.ts'
import type { Condition } from '../../shared/kube/conditions.ts'
import type { Agent, AgentPlatform } from '../../shared/runtime/agent.ts'
import { type Emit, emitter } from '../../shared/runtime/emitter.ts'
import { type Spool, spool } from '../../shared/runtime/spool.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { OVSNode } from '../../shared/schema/ovs-node.ts'
import { Announcer } from './announce.ts'
import { type Config, config } from './config.ts'
import { daemonsOf } from './daemons.ts'
import { Inbox, onlyNews, quietly } from './inbox.ts'
import { type Timings, defaultTimings, severityOf } from './issue-types.ts'
import { Judge } from './judge.ts'
import { agentMetrics } from './metrics.ts'
import { Publisher } from './publish.ts'
import { eventQueue } from './queue.ts'
import { followHypervisor, followOwn, inventory } from './sources/cluster.ts'
import { flowCounts } from './sources/flow-counts.ts'
import { heartbeat } from './sources/heartbeat.ts'
import { kernelBonds } from './sources/kernel-bonds.ts'
import { ovnLiveness, vswitchdLiveness } from './sources/liveness.ts'
import { followSouthbound } from './sources/southbound.ts'
import { followSwitch } from './sources/switch.ts'
import { troubleshooting } from './troubleshooting.ts'
import { watch } from './watch.ts'

export const agentVersion = '0.1.0'
const patienceForStoredMs = 10_000
const queueBytes = 1024 * 1024 // a thousand events and more (OV-31)

/** One agent. Nothing is shared between two of them, so that a process can run many. */
export function makeOvsAgent(changed: Partial<Timings> = {}): Agent<typeof config> {
  return {
    name: 'ovs-agent',
    config,
    bindAddress: ({ metricsBindAddress }) => metricsBindAddress,
    run: (given, platform) => run(given, { ...defaultTimings, orphanGraceMs: given.orphanGrace, ...changed }, platform)
  }
}

export const ovsAgent = makeOvsAgent()

async function run(given: Config, timings: Timings, platform: AgentPlatform): Promise<void> {
  const { nodeName: node, namespace, ovsRunDir } = given
  const { log, metrics, clock, ready, signal: stop } = platform
  const ending = new AbortController() // also when a part of it fails
  const signal = AbortSignal.any([stop, ending.signal])
  const now = () => clock().getTime()
  const { kubeconfig } = given
  const kube = await connect({ manager: 'drover-ovs-agent', log, ...(kubeconfig !== undefined && { kubeconfig }) })
  const source = `/ovs-agent/${node}`
  const once = { attempts: 1, minDelayMs: 200, maxDelayMs: 5000 }
  const emit = emitter({ sink: given.kSink, source, retry: once, log, metrics, signal })

  let stored: OVSNode | undefined
  let hypervisor: Hypervisor | undefined
  const firstSeen = Promise.withResolvers<void>()
  let late = false // the stored status was not to be had when the judging began
  const inbox = new Inbox(timings.gatherMs)
  const judge = new Judge({
    node,
    timings,
    settings: {
      expectedBridges: given.expectedBridges,
      ...(given.physicalInterfaces !== undefined && { physicalPattern: new RegExp(given.physicalInterfaces) })
    },
    heartbeatSeconds: Math.max(1, Math.round(given.heartbeat / 1000)),
    agentVersion
  })
  const announcer = new Announcer(kube, () => stored, log)
  const publisher = new Publisher({
    kube,
    node,
    namespace,
    log,
    signal,
    onWritten: () => ready(judge.observed.tables ? undefined : 'the database of the switch was not read yet')
  })

  const onStored = (seen: OVSNode | undefined): void => {
    const gone = stored !== undefined && seen === undefined
    stored = seen
    const foreign = findCondition(seen, 'Ready') as Condition | undefined
    if (foreign?.reason === 'AgentSilent') judge.overruled(foreign)
    if (gone || foreign?.reason === 'AgentSilent') {
      publisher.disturbed(gone)
      inbox.put({})
    }
    if (late) {
      late = false
      judge.recall(seen?.status ?? {}, now()) // what ended while nobody looked is still to be taken back
      inbox.put({})
    }
    firstSeen.resolve()
  }
  const current = () => judge.observed
  const cluster = { kube, node, namespace, log }
  let events: Spool | undefined // metrics are asked for before it is open
  const counters = agentMetrics(metrics, {
    judge,
    queueLength: () => events?.size ?? 0,
    allPorts: given.portMetrics === 'all'
  })
  const send: Emit = async event => {
    const count = (result: string) => counters.events.inc({ type: event.kind.type, result })
    await emit(event).catch((error: unknown) => {
      count('failed')
      throw error
    })
    count('sent')
  }
  const queue = await spool({ folder: given.spoolDir, maxBytes: queueBytes, send, log, metrics, clock, signal })
  events = queue
  const { connection, timed } = counters
  const db = open({
    remotes: [given.ovsdbRemote ?? `unix:${join(ovsRunDir, 'db.sock')}`],
    database: 'Open_vSwitch',
    onStatus: connection('ovsdb')
  })
  const daemons = daemonsOf(given, timed)
  const { certificatePollMs } = timings
  const parts = {
    given,
    db,
    daemons,
    kube,
    judge,
    events: queue,
    announcer,
    metrics: counters,
    clock,
    log,
    certificatePollMs,
    signal
  }
  const help = await troubleshooting(parts)
  // At once when the agent is to stop, not after its sources have ended: a question to a switch that does not answer would hold them up.
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= help.close().then(() => db.close()))
  signal.addEventListener('abort', () => void close().catch(() => {}), { once: true }) // the end below tells its failure
  const beat = () => given.heartbeat * (0.9 + Math.random() / 5)
  const sources = [
    followSwitch(db, signal),
    onlyNews(vswitchdLiveness(daemons, timings.livenessMs, signal)),
    onlyNews(ovnLiveness(daemons, timings.livenessMs, signal)),
    onlyNews(flowCounts({ daemons, everyMs: timings.flowPollMs, heartbeatMs: given.heartbeat, current, now }, signal)),
    kernelBonds(given.bondingDir, timings.bondingPollMs, signal),
    heartbeat({ db, daemons, timed, everyMs: beat, now }, signal),
    followOwn(cluster, signal, onStored),
    followHypervisor(cluster, signal, seen => (hypervisor = seen)),
    onlyNews(
      inventory(
        {
          ...cluster,
          hypervisor: () => hypervisor,
          current,
          now,
          everyMs: timings.flowPollMs,
          staleMs: given.inventoryStale,
          migrationNamespace: given.migrationNamespace
        },
        signal
      )
    ),
    onlyNews(eventQueue(queue, metrics, signal)),
    help.leftovers,
    help.certificates,
    ...(given.sbAccess === 'read'
      ? [
          followSouthbound(
            { tls: await southboundTls(given), onStatus: connection('southbound'), everyMs: 1000, current, now },
            signal
          )
        ]
      : [])
  ]

  let alarm: NodeJS.Timeout | undefined
  const publishing = publisher.run()
  try {
    const facts = watch(sources, inbox, signal)
    let recalled = false
    for await (const fact of facts) {
      if (!recalled) {
        late = await Promise.race([firstSeen.promise.then(() => false), quietly(patienceForStoredMs, signal).then(() => true)])
        judge.recall(stored?.status ?? {}, now())
        recalled = true
      }
      const { status, events: told, fresh, dueAt } = judge.take(fact, clock())
      for (const event of told) {
        await queue.put(event)
        counters.events.inc({ type: event.kind.type, result: 'queued' })
      }
      for (const { type, message } of fresh) {
        const kind = severityOf(type) === 'Info' ? 'Normal' : 'Warning'
        announcer.say({ reason: type, note: message, type: kind, action: 'Observe' })
      }
      publisher.offer(status, fact.heartbeat !== undefined)
      clearTimeout(alarm)
      if (dueAt !== undefined) alarm = setTimeout(() => inbox.put({}), Math.max(0, dueAt - now()))
    }
  } finally {
    ending.abort()
    clearTimeout(alarm)
    await close()
    await Promise.all([publishing, queue.closed])
    kube.close()
  }
}

async function southboundTls({ sbCaFile, sbCertFile, sbKeyFile }: Config) {
  const read = async (file: string | undefined) => (file === undefined ? undefined : readFile(file))
  const [ca, cert, key] = await Promise.all([read(sbCaFile), read(sbCertFile), read(sbKeyFile)])
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), checkServerIdentity: () => undefined } // ovs-pki certificates name no host
}
