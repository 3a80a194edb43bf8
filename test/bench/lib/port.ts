import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The first connection that the port takes. */
export async function connected(port: number): Promise<Socket> {
  for (let tries = 0; tries < 10_000; tries++) {
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise<boolean>(resolve => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    if (open) return socket
    await sleep(1)
  }
  throw new Error(`nothing listens on port ${port}`)
}
