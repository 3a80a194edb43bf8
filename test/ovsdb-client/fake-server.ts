// A scripted server, for what a healthy ovsdb-server never does: it says exactly what the test tells it to say.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type Socket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseJson } from '../../shared/ovsdb-client/src/json.ts'
import { JsonStream } from '../../shared/ovsdb-client/src/json-stream.ts'

export type Request = { id: unknown; method?: string; params?: unknown[]; result?: unknown; error?: unknown }

export interface Peer {
  readonly socket: Socket
  /** An object as JSON, a string as it is. */
  say(message: object | string): void
  answer(request: Request, result: unknown): void
  /** An error as ovsdb-server writes it: without `result`. */
  refuse(request: Request, error: unknown): void
}
export type Script = (peer: Peer, message: Request) => void

export interface FakeServer {
  readonly remote: string
  readonly peers: Peer[]
  readonly heard: Request[]
  /** Resolves with the message that fits, heard already or to come. */
  hears(fits: (message: Request) => boolean): Promise<Request>
  stop(): Promise<void>
}

export async function fakeServer(t: { teardown(fn: () => Promise<void>): void }, script: Script): Promise<FakeServer> {
  const dir = await mkdtemp(join(tmpdir(), 'd-'))
  const path = join(dir, 's')
  const peers: Peer[] = []
  const heard: Request[] = []
  const listeners = new Set<() => void>()
  const server = createServer(socket => {
    const say = (message: object | string) => void socket.write(typeof message === 'string' ? message : JSON.stringify(message))
    const peer: Peer = {
      socket,
      say,
      answer: ({ id }, result) => say({ id, result, error: null }),
      refuse: ({ id }, error) => say({ id, error })
    }
    peers.push(peer)
    const stream = new JsonStream()
    socket.on('error', () => {}) // the client may hang up whenever it likes
    socket.on('data', chunk => {
      for (const text of stream.push(chunk)) {
        const message = parseJson(text) as Request
        heard.push(message)
        script(peer, message)
        for (const listener of listeners) listener()
      }
    })
  })
  server.listen(path)
  await once(server, 'listening')
  const stop = async () => {
    if (!server.listening) return
    for (const { socket } of peers) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  t.teardown(async () => {
    await stop()
    await rm(dir, { recursive: true })
  })
  const hears = (fits: (message: Request) => boolean) =>
    new Promise<Request>(resolve => {
      const look = () => {
        const found = heard.find(fits)
        if (!found) return
        listeners.delete(look)
        resolve(found)
      }
      listeners.add(look)
      look()
    })
  return { remote: `unix:${path}`, peers, heard, hears, stop }
}

export const schema = (name: string, tables: Record<string, Record<string, unknown>>) => ({
  name,
  version: '1.0.0',
  tables: Object.fromEntries(
    Object.entries(tables).map(([table, columns]) => [
      table,
      { columns: Object.fromEntries(Object.entries(columns).map(([column, type]) => [column, { type }])) }
    ])
  )
})

export const testTables = { T: { name: 'string', tags: { key: 'string', min: 0, max: 'unlimited' } } }

/** A server of one stand-alone database "Test", as old as RFC 7047; `more` answers first, and returns false for what it leaves. */
export const plainServer =
  (more: (peer: Peer, message: Request) => boolean = () => false): Script =>
  (peer, message) => {
    if (message.method === undefined || more(peer, message)) return
    if (message.method === 'echo') peer.answer(message, message.params)
    else if (message.method === 'get_schema' && message.params?.[0] === 'Test') peer.answer(message, schema('Test', testTables))
    else if (message.method === 'get_schema') peer.refuse(message, { error: 'unknown database' })
    else if (message.method === 'monitor') peer.answer(message, {})
    else if (message.method !== 'cancel') peer.refuse(message, 'unknown method')
  }
