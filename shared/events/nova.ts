import { Type } from 'typebox'
import { event, type EventKind } from './kind.ts'

// Nova's own notifications (HV-43, EV-13), for who lets them in: Knative's RabbitmqSource takes them from oslo.messaging's queue as they are, and
// functions/nova-notifications makes small hints of the few that matter.
export const rabbitmqMessage = event({
  type: 'dev.knative.rabbitmq.event',
  // whatever is in the queue: other projects may use the same broker
  data: Type.Unknown(),
  source: '/apis/v1/namespaces/<namespace>/rabbitmqsources/<name>',
  emittedBy: 'RabbitmqSource (optional)',
  reactedBy: ['nova-notifications'],
  summary: 'a message of a RabbitMQ queue; those of Nova become hints, the rest is left alone'
})

const said = { event: Type.String({ minLength: 1 }) }

export const novaServerChanged = event({
  type: 'org.openstack.nova.server.changed.v1',
  data: Type.Object({
    ...said,
    server: Type.String({ minLength: 1 }),
    name: Type.Optional(Type.String()),
    host: Type.Optional(Type.String())
  }),
  source: '/nova-notifications',
  emittedBy: 'functions/nova-notifications',
  reactedBy: ['evict', 'onboarding'],
  summary: 'Nova ended something with a server: made, moved, stopped, deleted; or could not'
})

export const novaServiceChanged = event({
  type: 'org.openstack.nova.service.changed.v1',
  data: Type.Object({ ...said, host: Type.String({ minLength: 1 }) }),
  source: '/nova-notifications',
  emittedBy: 'functions/nova-notifications',
  reactedBy: ['onboarding', 'maintenance', 'offboarding'],
  summary: 'a compute service was registered, enabled, disabled, forced down or deleted'
})

export const novaKinds: readonly EventKind[] = [rabbitmqMessage, novaServerChanged, novaServiceChanged]
