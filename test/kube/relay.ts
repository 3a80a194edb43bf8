import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { Test } from 'tap'

export interface Relay {
  /** What to connect to instead of the server. */
  server: string
  readonly connections: number
  /** Breaks all connections and lets none through until `restore`. */
  cut(): void
  restore(): void
  /** The connections there are stay open and carry nothing any more, like those of a machine that lost its power. */
  freeze(): void
}

/** Stands between a client and a server, as a network that fails. */
export async function relay(t: Test, target: string): Promise<Relay> {
  const { port, hostname } = new URL(target)
  const pairs = new Set<[Socket, Socket]>()
  let open = true
  let connections = 0
  const entrance = createServer(near => {
    connections++
    if (!open) {
      near.destroy()
      return
    }
    const far = connect(Number(port), hostname)
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    near.pipe(far)
    far.pipe(near)
    for (const socket of pair) {
      socket.on('error', () => undefined) // followed by close
      socket.on('close', () => {
        pairs.delete(pair)
        near.destroy()
        far.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(entrance, 'listening')
  const destroyAll = () => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
  }
  t.teardown(() => {
    entrance.close()
    destroyAll()
  })
  return {
    server: `https://127.0.0.1:${(entrance.address() as AddressInfo).port}`,
    get connections() {
      return connections
    },
    cut() {
      open = false
      destroyAll()
    },
    restore() {
      open = true
    },
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause()
        far.unpipe(near).pause()
      }
    }
  }
}
