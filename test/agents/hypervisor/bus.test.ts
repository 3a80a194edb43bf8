// A system bus that is not one: the agent goes on without it (NA-7)
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import t from 'tap'
import { openBus, withBus } from '../../../agents/hypervisor/host/bus.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const folder = await mkdtemp(join(tmpdir(), 'b-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const clients = new Set<Socket>()
const mute = createServer(socket => {
  clients.add(socket)
  socket.on('error', () => {}) // the client may leave in any way it likes
})
await once(mute.listen(join(folder, 'mute')), 'listening')
t.teardown(() => {
  for (const socket of clients) socket.destroy()
  mute.close()
})

t.test('one that accepts and never answers', async t => {
  await t.rejects(openBus(`unix:path=${join(folder, 'mute')}`, 50), /did not answer/)
})

t.test('none at all is told, and tried again until the end', async t => {
  const stop = new AbortController()
  const reasons: string[] = []
  const lost = (reason: string) => {
    reasons.push(reason)
    stop.abort()
  }
  const address = `unix:path=${join(folder, 'nothing')}`
  await withBus({ address, signal: stop.signal, log: pino({ level: 'silent' }), lost }, async () => void t.fail('no session'))
  matchWhole(t, reasons, [/ENOENT/])
})
