// What ovs-appctl asks: JSON-RPC 1.0 over a unix socket, params and results are strings. A pid file says where the socket is.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JsonStream, parseJson, readMessage, writeError, writeResult } from 'ovsdb-client/server'
import { listenAt, type Listener } from '../listen.ts'

export type Commands = Readonly<Record<string, () => string>>

export async function startUnixctl(folder: string, daemon: string, pid: number, commands: Commands): Promise<Listener> {
  const listener = await listenAt(join(folder, `${daemon}.${pid}.ctl`), socket => {
    const stream = new JsonStream()
    socket.on('data', chunk => {
      for (const text of stream.push(chunk)) {
        const message = readMessage(parseJson(text))
        if (message.kind !== 'request') continue
        const command = commands[message.method]
        const refused = `"${message.method}" is not a valid command (use "list-commands" to see a list of valid commands)`
        socket.write(command ? writeResult(message.id, command()) : writeError(message.id, refused))
      }
    })
  })
  const pidFile = join(folder, `${daemon}.pid`)
  await writeFile(pidFile, `${pid}\n`)
  return {
    async close() {
      await rm(pidFile, { force: true })
      await listener.close()
    }
  }
}
