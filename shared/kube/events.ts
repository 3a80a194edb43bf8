import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { KubeObject } from '../schema/kind.ts'
import { KubeError, type KubeErrorCode } from './errors.ts'
import { Event } from './kinds.ts'
import { microTime } from './micro-time.ts'
import { find } from './read.ts'
import type { Transport } from './transport.ts'
import { create, patch } from './write.ts'

/** What happened to an object, for people: `kubectl describe` shows it. */
export interface Happening {
  type: 'Normal' | 'Warning'
  reason: string
  note: string
  action: string
}

export type Subject = KubeObject & { apiVersion: string; kind: string }

const maxNoteBytes = 1024
const races = 20 // the same told by so many at once

/**
 * Tells it once; the same again is counted in the series of the first. The name is made of the content, so that this also holds between replicas
 * and after a restart, without any memory. (The server forgets an event an hour after its last change.)
 */
export async function tell(
  transport: Transport,
  manager: string,
  about: Subject,
  happening: Happening,
  now: Date
): Promise<void> {
  const { name = '', namespace = 'default', uid } = about.metadata ?? {}
  const { type, reason, action } = happening
  const note = Buffer.from(happening.note)
    .subarray(0, maxNoteBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
  const digest = createHash('sha256')
    .update(JSON.stringify([manager, about.kind, uid, type, reason, action, note]))
    .digest('hex')
  const eventName = `${name.slice(0, 200)}.${digest.slice(0, 16)}`

  for (let race = 1; ; race++) {
    try {
      return await tellOrCount()
    } catch (error) {
      if (!isRace(error, eventName) || race === races) throw error
    }
  }

  /** Most are told once, so that is tried first. */
  async function tellOrCount(): Promise<void> {
    try {
      await create(transport, manager, Event, first())
    } catch (error) {
      if (!isCode(error, 'AlreadyExists')) throw error
      const earlier = await find(transport, Event, eventName, namespace)
      if (!earlier) throw error // forgotten just now
      await countOn(earlier)
    }
  }

  function first(): Event {
    const { resourceVersion } = about.metadata ?? {}
    const regarding = {
      apiVersion: about.apiVersion,
      kind: about.kind,
      name,
      namespace: about.metadata?.namespace,
      uid,
      resourceVersion
    }
    return {
      metadata: { name: eventName, namespace },
      eventTime: microTime(now),
      reportingController: manager,
      reportingInstance: hostname(),
      regarding: JSON.parse(JSON.stringify(regarding)),
      type,
      reason,
      action,
      note
    }
  }

  function countOn({ metadata, series }: Event): Promise<Event> {
    const more = { count: (series?.count ?? 1) + 1, lastObservedTime: microTime(now) }
    const body = { metadata: { resourceVersion: metadata?.resourceVersion }, series: more }
    return patch(transport, manager, Event, { name: eventName, namespace }, body)
  }
}

const isCode = (error: unknown, code: KubeErrorCode): error is KubeError => error instanceof KubeError && error.code === code

/** Counted by somebody else at the same time, or forgotten by the server just now. */
const isRace = (error: unknown, eventName: string): boolean =>
  isCode(error, 'Conflict') || isCode(error, 'AlreadyExists') || (isCode(error, 'NotFound') && error.details?.name === eventName)
