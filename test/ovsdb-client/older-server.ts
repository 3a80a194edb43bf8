// A real ovsdb-server as it was some releases ago: in front of it, somebody who refuses the methods it did not have then.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JsonStream } from '../../shared/ovsdb-client/src/json-stream.ts'

type Teardown = { teardown(fn: () => Promise<void>): void }

export async function olderServer(t: Teardown, remote: string, without: readonly string[]): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'd-'))
  const path = join(dir, 's')
  const server = createServer(near => {
    const far = connect(remote.slice('unix:'.length))
    const stream = new JsonStream()
    const hangUp = () => void (near.destroy(), far.destroy())
    for (const socket of [near, far]) socket.on('close', hangUp).on('error', hangUp)
    far.pipe(near)
    near.on('data', chunk => {
      for (const { text } of stream.push(chunk)) {
        const { id, method } = JSON.parse(text) as { id: unknown; method?: string }
        if (method && without.includes(method)) near.write(JSON.stringify({ id, error: 'unknown method' }))
        else far.write(text)
      }
    })
  })
  server.listen(path)
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    await rm(dir, { recursive: true })
  })
  return `unix:${path}`
}
