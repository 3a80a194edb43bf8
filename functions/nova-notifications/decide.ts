// Which of Nova's versioned notifications are worth a look, and what they hint at. Pure.
import type { Notification } from './read.ts'

export type Hint =
  | { about: 'server'; event: string; server: string; name?: string; host?: string }
  | { about: 'service'; event: string; host: string }

// What a drain or a test may wait for. `instance.update` comes with every step and says nothing that these do not.
const ends =
  /^instance\.(create|delete|soft_delete|restore|live_migration_\w+|resize\w*|evacuate|rebuild|power_o\w+|reboot|(un)?pause|suspend|resume|(un)?shelve\w*|(un)?rescue)\.(end|error)$/
const services = /^service\.(create|update|delete)$/

export function decide({ event_type: event, payload }: Notification): Hint | undefined {
  const { uuid, display_name: name, host, binary } = payload['nova_object.data']
  if (services.test(event))
    return typeof host === 'string' && binary === 'nova-compute' ? { about: 'service', event, host } : undefined
  if (!ends.test(event) || typeof uuid !== 'string') return undefined
  return {
    about: 'server',
    event,
    server: uuid,
    ...(typeof name === 'string' && { name }),
    ...(typeof host === 'string' && { host })
  }
}
