import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { nodeChanged } from '../../shared/events/objects.ts'
import { startBundle } from './bundled.ts'
import { eventHeaders } from './platform.ts'

t.test('a bundle runs alone, with its compile cache', async t => {
  const { url, folder, stop } = await startBundle(t, 'test/fixtures/functions/noop/main.ts', {})
  t.ok((await stat(join(folder, 'noop.js'))).size < 3_000_000)
  t.not((await readdir(join(folder, '.cache'), { recursive: true })).length, 0, 'the cache is filled')
  const headers = eventHeaders(nodeChanged.type)
  t.equal((await fetch(url, { method: 'POST', headers, body: '{"apiVersion":"v1","kind":"Node","name":"n1"}' })).status, 204)
  t.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 422)
  t.match(await (await fetch(`${url}/metrics`)).text(), 'drover_events_total')
  t.equal(await stop(), 0)
})
