import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { nodeChanged } from '../../shared/events/objects.ts'
import { bundle } from '../../shared/runtime/bundle.ts'
import { warm } from '../../shared/runtime/warm.ts'
import { eventHeaders } from './platform.ts'

const entry = fileURLToPath(new URL('../fixtures/functions/noop/main.ts', import.meta.url))

t.test('a bundle runs alone, with its compile cache', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'b-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = await bundle(entry, folder)
  t.equal(file, join(folder, 'noop.js'))
  t.ok((await stat(file)).size < 3_000_000)
  const cache = join(folder, '.cache')
  await warm(file, cache)
  t.not((await readdir(cache, { recursive: true })).length, 0, 'the cache is filled')

  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PORT: '0', HOST: '127.0.0.1', NODE_COMPILE_CACHE: cache },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  const headers = eventHeaders(nodeChanged.type)
  t.equal((await fetch(url, { method: 'POST', headers, body: '{"apiVersion":"v1","kind":"Node","name":"n1"}' })).status, 204)
  t.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 422)
  t.match(await (await fetch(`${url}/metrics`)).text(), 'drover_events_total')
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})
