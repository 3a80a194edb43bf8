// Work of this process that goes on whatever the clock says: what was asked of the system, and what is on its sockets. A watch that waits
// for news is none, as long as there are none on their way.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

export interface PendingWork {
  /** Of this moment, in words; undefined: none. */
  now(): string | undefined
  /** Changes with every byte and every connection: what a turn of the event loop has done. */
  traffic(): string
  end(): void
}

/** What `process.getActiveResourcesInfo` lists as long as it is open. Writes are counted by their bytes: a reader may be busy. */
const lasting =
  /^(Timeout|TickObject|(TCP|Pipe)(Socket|Server)?Wrap|TTYWrap|UDPWrap|ProcessWrap|SignalWrap|FSEventWrap|StatWatcher|MessagePort|Worker|WriteWrap|ShutdownWrap)$/

export function watchPendingWork(): PendingWork {
  const open = new Set<Socket>()
  let opened = 0
  const add = (message: unknown): void => {
    const { socket } = message as { socket: Socket }
    open.add(socket)
    opened++
    socket.once('close', () => open.delete(socket))
  }
  subscribe('net.client.socket', add)
  subscribe('net.server.socket', add)

  return {
    now() {
      const asked = process.getActiveResourcesInfo().find(resource => !lasting.test(resource))
      return asked ?? onTheWay(open)
    },
    traffic() {
      let bytes = 0
      for (const { bytesRead, bytesWritten } of open) bytes += bytesRead + bytesWritten
      return `${opened} ${open.size} ${bytes}`
    },
    end() {
      unsubscribe('net.client.socket', add)
      unsubscribe('net.server.socket', add)
    }
  }
}

/** The kernel brings what is written to a local socket at once to its reader, but for TCP on busy processors: both ends count. */
function onTheWay(open: Iterable<Socket>): string | undefined {
  const ends = new Map<string, Socket>()
  for (const socket of open) {
    const { localPort, remotePort } = socket
    if (localPort === undefined || remotePort === undefined) continue // a path, not connected, or closed
    ends.set(`${localPort} ${remotePort}`, socket)
    const peer = ends.get(`${remotePort} ${localPort}`)
    if (!peer || peer === socket) continue
    const bytes = Math.max(socket.bytesWritten - peer.bytesRead, peer.bytesWritten - socket.bytesRead)
    if (bytes > 0) return `${bytes} bytes between ports ${localPort} and ${remotePort}`
  }
  return undefined
}
