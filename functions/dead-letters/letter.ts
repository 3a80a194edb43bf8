// A dead letter as a Kubernetes Event: the page and `drover deadletters` read it there, for as long as the server keeps Events. Pure.
import { hash } from 'node:crypto'
import type { Received } from '../../shared/events/kind.ts'
import type { Event } from '../../shared/kube/kinds.ts'
import { microTime } from '../../shared/kube/micro-time.ts'
import { deadLetter } from '../../shared/view/told.ts'

const maxKeptBytes = 32 * 1024 // all annotations of an object together may have 256 KiB
const maxNoteBytes = 1000

/** Objects that travel whole may hold what is in a Machine's cloud-init. */
const mayBeKept = (type: string): boolean => !type.startsWith('dev.knative.apiserver.resource.')

const isOfDelivery = (name: string): boolean => /^knative(error|arrival|broker|history)/.test(name)

/** In the JSON format of CloudEvents, without what the delivery added. */
function cloudEvent({
  id,
  type,
  source,
  subject,
  time,
  data,
  partitionkey,
  sequence,
  traceparent,
  changed,
  extensions
}: Received) {
  const own = Object.fromEntries(Object.entries(extensions).filter(([name]) => !isOfDelivery(name)))
  return {
    specversion: '1.0',
    id,
    type,
    source,
    subject,
    time,
    partitionkey,
    sequence,
    traceparent,
    ...(changed && { changed: changed.join(',') }),
    ...own,
    datacontenttype: 'application/json',
    data
  }
}

/** Its name comes from what it is, so that the same letter twice is one Event. */
export function toEvent(event: Received, namespace: string, instance: string, now: Date): Event {
  const { id, type, source, subject = '', extensions } = event
  const { knativeerrorcode: code = '', knativeerrordest: by = '' } = extensions
  const whole = JSON.stringify(cloudEvent(event))
  const { annotations } = deadLetter
  return {
    metadata: {
      name: `dead-letter-${hash('sha256', [source, id, by].join('\n')).slice(0, 10)}`,
      namespace,
      annotations: {
        [annotations.id]: id,
        [annotations.type]: type,
        [annotations.subject]: subject,
        [annotations.by]: by,
        [annotations.code]: code,
        ...(mayBeKept(type) && Buffer.byteLength(whole) <= maxKeptBytes && { [annotations.event]: whole })
      }
    },
    eventTime: microTime(now),
    reportingController: deadLetter.controller,
    reportingInstance: instance.slice(0, 128),
    regarding: { apiVersion: 'v1', kind: 'Namespace', name: namespace, namespace },
    type: 'Warning',
    reason: deadLetter.reason,
    action: 'Deliver',
    note: `${type} ${subject} could not be handled${code && ` (${code})`}`.slice(0, maxNoteBytes)
  }
}
