// The local broker: knative/*.yaml in, CloudEvents delivered as Knative would. See README.md.
import { DatabaseSync } from 'node:sqlite'
import { stoppable, systemClock, type Clock } from './clock.ts'
import type { LetterBox } from './dead-letter-pages.ts'
import { openDeadLetters } from './dead-letters.ts'
import { groupCommit } from './group-commit.ts'
import { Hub } from './hub.ts'
import { listen } from './ingress.ts'
import { forgetful, openJournal } from './journal.ts'
import { readManifests, type PingManifest } from './manifests.ts'
import { persist } from './persist.ts'
import { startPing } from './ping-source.ts'
import { toPolicy } from './policy.ts'
import { toRequest } from './request.ts'
import { Sender } from './sender.ts'
import { findBound, type Bound, type Subject } from './sink-binding.ts'
import type { BrokerOptions, Headers, Limits, Log } from './types.ts'
import { judgePlain } from './verdict.ts'
import { targetOf, wire, type TriggerInfo } from './wire.ts'

export type { Clock } from './clock.ts'
export type { DeadLetter } from './dead-letters.ts'
export { ManifestError } from './manifests.ts'
export type { Bound, Subject } from './sink-binding.ts'
export type { Answer, BrokerOptions, Delivered, Limits, Log, Manifest, Ref, Request, Sink } from './types.ts'
export type { TriggerInfo } from './wire.ts'

export interface Broker {
  /** False once it is closing. */
  readonly ready: boolean
  readonly triggers: TriggerInfo[]
  ingress: (namespace: string, name: string) => string
  /** The same as a POST to the ingress. */
  send: (namespace: string, name: string, headers: Headers, body: Buffer) => Promise<{ status: number }>
  /** What SinkBindings give a workload; undefined when none names it. */
  sinkFor: (subject: Subject) => Bound | undefined
  deadLetters: LetterBox
  /** Resolves when every event that was taken is delivered or dead-lettered. */
  idle: () => Promise<void>
  /** Breaks off what is under way; with a state file it is made again at the next start. */
  close: () => Promise<void>
}

const LIMITS: Limits = { inFlight: 100, queue: 10_000, bytes: 128 << 20, deadLetters: 1000 }
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }
/** A source's tick: five more tries within two seconds, then it is dropped. */
const PING_POLICY = toPolicy({ retry: 5, backoffPolicy: 'exponential', backoffDelay: 'PT0.05S' })

export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { log = SILENT, random = Math.random, observe } = options
  const wiring = await readManifests(options.manifests, options.namespace ?? 'default')
  const limits = { ...LIMITS, ...options.limits }
  const clock = stoppable(options.clock ?? systemClock)
  const sender = new Sender(clock)
  const db = options.state ?? new DatabaseSync(':memory:')
  const commit = groupCommit(db)
  const journal = options.state ? openJournal(db, commit) : forgetful
  const letters = openDeadLetters(db, commit, { count: limits.deadLetters, bytes: limits.bytes })
  const hub = new Hub({ journal, deadLetters: letters, sender, clock, limits, log, ...(observe && { observe }) })

  const deadLetters = { list: letters.list, drop: letters.drop, replay: (id: number) => hub.replay(id) }
  const ingress = await listen(options.port ?? 0, log, hub, deadLetters)
  const urlOf = (key: string): string => `${ingress.url}/${key}`
  const find = targetOf(wiring, options.resolve, hub, urlOf)
  let triggers: TriggerInfo[]
  try {
    triggers = wire(wiring, hub, find, urlOf, limits.inFlight)
  } catch (err) {
    await ingress.close()
    throw err
  }
  for (const { name, namespace, reason, file } of triggers) {
    if (reason === undefined) continue
    const chosen = reason.endsWith('is not started here') // and whoever chose so knows
    log[chosen ? 'debug' : 'warn']({ file }, `Trigger ${namespace}/${name} is not ready: ${reason}`)
  }
  await hub.restore()
  for (const ping of wiring.pings.values()) tick(ping, find, sender, clock, random, log)

  let ready = true
  return {
    triggers,
    get ready() {
      return ready
    },
    ingress: (namespace, name) => urlOf(`${namespace}/${name}`),
    send: async (namespace, name, headers, body) => ({
      status: (await hub.receive(`${namespace}/${name}`, headers, body)).status
    }),
    sinkFor: subject =>
      findBound(wiring.bindings.values(), subject, ({ spec, namespace }) => find(spec.sink, namespace)?.url ?? ''),
    deadLetters,
    idle: () => hub.idle(),
    async close() {
      ready = false
      clock.stop()
      await Promise.all([ingress.close(), sender.close()])
      await commit(() => {}) // what was queued before goes with it
    }
  }
}

function tick(
  { spec, ...named }: PingManifest,
  find: ReturnType<typeof targetOf>,
  sender: Sender,
  clock: Clock,
  random: () => number,
  log: Log
) {
  const target = find(spec.sink, named.namespace)
  if (!target) return log.warn({ file: named.file }, `PingSource ${named.key} is not ready: nobody answers for its sink`)
  return startPing(spec, named, clock, random, event => {
    const request = toRequest(event, { 'kn-namespace': named.namespace }, 'binary', target.path)
    persist(() => sender.send(target, request), judgePlain, PING_POLICY, clock).then(
      ({ verdict }) => verdict.done || log.warn({ ping: named.key }, 'a tick was dropped'),
      (err: unknown) => log.warn({ err, ping: named.key }, 'a tick broke off')
    )
  })
}
