// One event to one trigger: the subscriber, its reply, and if all fails the dead letter (knative.md §3.2).
import type { Clock } from './clock.ts'
import type { Event } from './event.ts'
import type { Stored } from './journal.ts'
import type { Lane } from './lane.ts'
import { persist } from './persist.ts'
import type { Policy } from './policy.ts'
import { toRequest } from './request.ts'
import type { Sender, Target } from './sender.ts'
import type { Headers } from './types.ts'
import { judge, judgePlain, type Cause, type Reply } from './verdict.ts'

export interface Trigger {
  /** namespace/name */
  key: string
  namespace: string
  subscriber: Target
  deadLetterSink?: Target
  policy: Policy
  lane: Lane
}

export interface Means {
  sender: Sender
  clock: Clock
  /** Where replies go, and what a reply that was refused is dead-lettered with. */
  ingress: { url: string; reply: (reply: Reply, ttl: number) => Promise<number> }
}

export type Outcome = { outcome: 'done' | 'replied' } | { outcome: 'dead-lettered'; cause?: Cause; taken: boolean }

export async function dispatch(stored: Stored, trigger: Trigger, means: Means): Promise<Outcome & { attempts: number }> {
  const extra: Headers = { ...stored.passed, 'kn-namespace': trigger.namespace }
  const { verdict, attempts } = await toSubscriber(stored.event, extra, trigger, means)
  if (!verdict.done) {
    const cause = verdict.cause && { ...verdict.cause, dest: trigger.subscriber.url }
    return { attempts, ...(await bury(stored, extra, cause, trigger, means)) }
  }
  if (!verdict.reply) return { attempts, outcome: 'done' }
  const refused = await passReply(verdict.reply, stored.ttl, trigger, means)
  if (!refused) return { attempts, outcome: 'replied' }
  return {
    attempts,
    ...(await bury(stored, { ...verdict.reply.passed, 'kn-namespace': trigger.namespace }, refused, trigger, means))
  }
}

function toSubscriber(event: Event, extra: Headers, { subscriber, policy, lane }: Trigger, { sender, clock }: Means) {
  const request = toRequest(event, { ...extra, prefer: 'reply' }, policy.format, subscriber.path)
  return persist(() => lane.slot(() => sender.send(subscriber, request, policy.timeoutMs)), judge, policy, clock)
}

async function passReply(reply: Reply, ttl: number, { policy }: Trigger, { ingress, clock }: Means): Promise<Cause | undefined> {
  const send = async () => ({ answer: { status: await ingress.reply(reply, ttl) } })
  const { verdict } = await persist(send, judgePlain, policy, clock)
  return verdict.done ? undefined : { code: 500, data: '', ...verdict.cause, dest: ingress.url }
}

async function bury(stored: Stored, extra: Headers, cause: Cause | undefined, trigger: Trigger, means: Means): Promise<Outcome> {
  const { deadLetterSink, policy, lane } = trigger
  if (!deadLetterSink) return { outcome: 'dead-lettered', taken: false, ...(cause && { cause }) }
  const request = toRequest(deadEvent(stored, cause), extra, policy.format, deadLetterSink.path)
  const send = () => lane.slot(() => means.sender.send(deadLetterSink, request, policy.timeoutMs))
  const { verdict } = await persist(send, judgePlain, policy, means.clock)
  return { outcome: 'dead-lettered', taken: verdict.done, ...(cause && { cause }) }
}

function deadEvent({ event, ttl }: Stored, cause: Cause | undefined): Event {
  const error = cause && { knativeerrorcode: String(cause.code), knativeerrordest: cause.dest, knativeerrordata: cause.data }
  return { attributes: { ...event.attributes, knativebrokerttl: String(ttl), ...error }, body: event.body }
}
