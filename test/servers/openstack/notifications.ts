// Nova's notifications as they are in its RabbitMQ; what Knative's RabbitmqSource would post.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Tells each message from now on. Returns how to stop. */
export async function onNotification(amqpUrl: string, tell: (message: unknown) => void): Promise<() => Promise<void>> {
  const child = spawn('/usr/bin/python3', [join(import.meta.dirname, 'notifications.py'), amqpUrl], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const lines = createInterface(child.stdout)
  await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('nobody listens to RabbitMQ')))
  ])
  lines.on('line', line => tell(JSON.parse(line)))
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
}
