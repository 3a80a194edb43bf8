// Answers and watches over HTTP.
import type { ServerResponse } from 'node:http'
import { send } from './answer.ts'
import { bytesOfEvent } from './encode.ts'
import type { Reply } from './handle.ts'
import type { Outlet } from './watch.ts'

export const httpReply = (response: ServerResponse): Reply => ({
  send: answer => send(response, answer),
  follow: () => httpOutlet(response),
  lose: () => void response.destroy()
})

function httpOutlet(response: ServerResponse): Outlet {
  let resume = (): void => {}
  response.on('drain', () => resume())
  response.on('close', () => resume())
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' })
  response.flushHeaders()
  return {
    tell(type, object) {
      if (response.destroyed || response.write(bytesOfEvent(type, object))) return undefined
      return new Promise<void>(resolve => (resume = resolve))
    },
    onClose: closed => void response.on('close', closed),
    end: () => void response.end(),
    drop: () => void response.destroy()
  }
}
