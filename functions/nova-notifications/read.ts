import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'

/** oslo.messaging puts the notification as text into an envelope. */
const Envelope = Type.Object({ 'oslo.message': Type.String() })
const Notification = Type.Object({
  event_type: Type.String(),
  message_id: Type.Optional(Type.String()),
  payload: Type.Object({ 'nova_object.data': Type.Record(Type.String(), Type.Unknown()) })
})
export type Notification = Static<typeof Notification>

/** Undefined: not one of Nova's, or of the old, unversioned form. */
export function read(data: unknown): Notification | undefined {
  const inner = Value.Check(Envelope, data) ? parsed(data['oslo.message']) : data
  return Value.Check(Notification, inner) ? inner : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (err) {
    if (err instanceof SyntaxError) return undefined // no notification then, whoever put it there
    throw err
  }
}
