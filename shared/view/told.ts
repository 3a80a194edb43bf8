// What functions and agents told of an object, as Kubernetes keeps it for an hour; and the events that nobody could handle.
import type { Event } from '../kube/kinds.ts'
import type { Happening, LetterView } from './types.ts'

/** Kinds whose Events are shown. */
export const toldKinds = ['Hypervisor', 'Eviction', 'OVSNode', 'Machine'] as const

export const timeOf = ({ series, eventTime, deprecatedLastTimestamp, metadata }: Event): string =>
  series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp ?? metadata?.creationTimestamp ?? ''

/** `hostOf` finds the host of an Eviction. */
export function toldHappening(event: Event, hostOf: (eviction: string) => string | undefined): Happening {
  const { regarding, note, reason, type, series, metadata } = event
  const { kind, name = '', namespace } = regarding ?? {}
  const about = kind === 'Eviction' ? (hostOf(name) ?? name) : kind === 'Machine' ? `${namespace}/${name}` : name
  const again = (series?.count ?? 1) > 1 ? ` (${series?.count} times)` : ''
  return {
    id: metadata?.uid ?? metadata?.name ?? '',
    time: timeOf(event),
    tone: type === 'Warning' ? 'warn' : 'rest',
    about,
    text: `${note ?? reason ?? ''}${again}`
  }
}

/** How functions/dead-letters writes them down. */
export const deadLetter = {
  reason: 'DeadLetter',
  controller: 'drover-dead-letters',
  annotations: {
    id: 'drover.dev/event-id',
    type: 'drover.dev/event-type',
    subject: 'drover.dev/event-subject',
    by: 'drover.dev/failed-at',
    code: 'drover.dev/last-answer',
    /** The event whole, where it may be kept: so that it can be sent again. */
    event: 'drover.dev/event'
  }
} as const

export function letterView(event: Event): LetterView {
  const { metadata } = event
  const said = (key: keyof typeof deadLetter.annotations): string => metadata?.annotations?.[deadLetter.annotations[key]] ?? ''
  return {
    id: metadata?.name ?? '',
    time: timeOf(event),
    type: said('type'),
    subject: said('subject'),
    by: functionOf(said('by')),
    code: said('code') || 'none',
    kept: said('event') !== ''
  }
}

/** `http://traits.drover.svc.cluster.local/` → `traits` */
function functionOf(address: string): string {
  try {
    return new URL(address).hostname.split('.')[0] || address
  } catch {
    return address
  }
}
