// The system bus: a call, a signal, and when it is gone. Comes back by itself: a new session each time.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Message } from 'dbus-native'
import type { Logger } from 'pino'

export interface Target {
  service: string
  path: string
  interface: string
}

export interface Bus {
  call: (target: Target, member: string, signature?: string, body?: unknown[]) => Promise<unknown>
  /** Tells of every signal that the rule lets through. */
  listen: (rule: string, heard: (signal: Message) => void) => Promise<void>
  closed: Promise<void>
  close: () => Promise<void>
}

const callMs = 10_000
const retryMs = 5000

/** A bus that accepts and says nothing is as good as none. */
export async function openBus(address: string, timeoutMs = callMs): Promise<Bus> {
  const bus = createClient({ busAddress: address, timeout: callMs })
  const closed = new Promise<void>(resolve => {
    bus.connection.on('close', () => resolve())
    bus.connection.on('end', () => resolve())
  })
  const failed = new Promise<never>((_, reject) => bus.connection.on('error', reject))
  failed.catch(() => {}) // after the connection was made, `closed` tells it
  const connected = new Promise<void>(resolve => bus.connection.on('connect', resolve))
  const answered = new AbortController()
  const mute = sleep(timeoutMs, undefined, answered).then(() =>
    Promise.reject(new Error(`the bus did not answer in ${timeoutMs} ms`))
  )
  mute.catch(() => {}) // it did
  try {
    await Promise.race([connected, failed, mute, closed.then(() => Promise.reject(new Error('the bus hung up')))])
  } catch (err) {
    bus.connection.end()
    throw err
  } finally {
    answered.abort()
  }
  return {
    call: async ({ service, path, interface: of }, member, signature, body) =>
      bus.invoke({ destination: service, path, interface: of, member, ...(signature && { signature, body: body ?? [] }) }),
    async listen(rule, heard) {
      const wanted = Object.fromEntries([...rule.matchAll(/(\w+)='([^']*)'/g)].map(([, key, value]) => [key, value]))
      bus.connection.on('message', message => {
        if (message.type === 4 && fits(message, wanted)) heard(message)
      })
      await bus.addMatch(rule)
    },
    closed,
    close: async () => {
      bus.connection.end()
    }
  }
}

// The bus sends what any of our rules asks for; the sender is a unique name there, so it cannot be compared.
const fits = ({ interface: of, member, path }: Message, wanted: Record<string, string | undefined>): boolean =>
  (wanted['interface'] === undefined || wanted['interface'] === of) &&
  (wanted['member'] === undefined || wanted['member'] === member) &&
  (wanted['path'] === undefined || wanted['path'] === path)

/** Runs the session on every connection to the bus, until the signal aborts. `lost` is told in between. */
export async function withBus(
  { address, signal, log, lost }: { address: string; signal: AbortSignal; log: Logger; lost: (reason: string) => void },
  session: (bus: Bus) => Promise<void>
): Promise<void> {
  while (!signal.aborted) {
    try {
      const bus = await openBus(address)
      const stop = () => void bus.close()
      signal.addEventListener('abort', stop, { once: true })
      try {
        await session(bus)
        await bus.closed
      } finally {
        signal.removeEventListener('abort', stop)
        await bus.close()
      }
      if (!signal.aborted) lost('the bus hung up')
    } catch (err) {
      if (signal.aborted) return
      log.warn({ err }, 'the system bus cannot be used')
      lost((err as Error).message)
    }
    await sleep(retryMs, undefined, { signal }).catch(() => {}) // aborted: the loop ends
  }
}
