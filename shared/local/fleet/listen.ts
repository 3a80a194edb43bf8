import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'

export interface Listener {
  /** Hangs up on everybody, and leaves no socket behind. */
  close(): Promise<void>
}

export async function listenAt(path: string, accept: (socket: Socket) => void): Promise<Listener> {
  const open = new Set<Socket>()
  await rm(path, { force: true })
  const server = createServer(socket => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {}) // a client may leave in any way it likes
    accept(socket)
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    }
  }
}
