import { type Hypervisor, ServerConnection } from 'node-libvirt/server'
import type { Domains } from '../domains/domains.ts'
import { listenAt, type Listener } from '../listen.ts'

/** libvirtd on a unix socket. */
export async function startLibvirtd(path: string, hypervisor: Hypervisor, domains: Domains): Promise<Listener> {
  const clients = new Set<ServerConnection>()
  const listener = await listenAt(path, socket => {
    const client = new ServerConnection(socket, hypervisor)
    clients.add(client)
    socket.on('close', () => clients.delete(client))
  })
  const stop = domains.listen(event => {
    for (const client of clients) client.tell(event)
  })
  return {
    async close() {
      stop()
      await listener.close()
    }
  }
}
