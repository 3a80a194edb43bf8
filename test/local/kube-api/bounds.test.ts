// What a client does cannot make the server grow without end. The server is a process of its own, so that its memory is its own too.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import t from 'tap'
import { eventually } from '../../servers/eventually.ts'
import { connect, type Api } from './contract/target.ts'

t.setTimeout(120_000)
const folder = await mkdtemp(join(tmpdir(), 'bounds-'))
const server = fork(join(import.meta.dirname, '..', '..', 'bench', 'kube-api', 'serve.ts'), {
  execArgv: ['--conditions=drover', '--expose-gc', '--max-old-space-size=400']
})
t.teardown(async () => {
  const exited = once(server, 'exit')
  server.disconnect()
  await exited
  await rm(folder, { recursive: true })
})
const [{ url, token, ca }] = (await once(server, 'message')) as [{ url: string; token: string; ca: string }]
await writeFile(join(folder, 'ca.crt'), ca)
const api: Api = connect({ server: url, ca: join(folder, 'ca.crt'), adminToken: token, namespace: 'default' })
const maps = '/api/v1/namespaces/default/configmaps'

async function mebibytes(): Promise<number> {
  server.send('rss')
  const [{ heap }] = (await once(server, 'message')) as [{ heap: number }]
  return heap / 2 ** 20
}

/** Asks for a watch and reads nothing of it. */
async function deafWatch(): Promise<TLSSocket> {
  const { port } = new URL(url)
  const socket = connectTls({ host: '127.0.0.1', port: Number(port), ca })
  await once(socket, 'secureConnect')
  socket.on('error', () => {}) // it is to be cut off
  socket.pause()
  socket.write(`GET ${maps}?watch=true HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`)
  return socket
}

t.test('a watch client that never reads is let go, and what waited for it with it', async t => {
  const sockets = await Promise.all([deafWatch(), deafWatch(), deafWatch()])
  const before = await mebibytes()
  const write = (n: number) =>
    api.done(
      'PATCH',
      `${maps}/big?fieldManager=t&force=true`,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'big' },
        data: { text: String(n).padEnd(500_000, 'x') }
      },
      'application/apply-patch+yaml'
    )
  for (let n = 0; n < 300; n++) await write(n) // 150 MB
  // of 150 MB told to three of them, less is kept than two histories; what one collection let go of outside of the heap, the next one frees
  await eventually('less than 160 MiB', async () => (await mebibytes()) - before < 160)
  for (const socket of sockets) {
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.resume()
    await closed
  }
  t.equal((await api.call('GET', `${maps}/big`)).status, 200, 'others are served')
})

t.test('an object of 10 MB is refused, and not kept', async t => {
  const before = await mebibytes()
  const object = { metadata: { name: 'huge' }, data: { text: 'x'.repeat(10 << 20) } }
  for (let n = 0; n < 5; n++) {
    const { status, body } = await api.call('POST', maps, object)
    t.equal(status, 413)
    t.match(body, { kind: 'Status', reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' })
  }
  await eventually('the memory', async () => (await mebibytes()) - before < 20)
})

t.test('the version of a watch that fell out of the history is told as gone', async t => {
  const { body } = await api.call('GET', `${maps}?watch=true&resourceVersion=2&timeoutSeconds=1`)
  t.match(JSON.stringify(body), /"code":410/)
})
