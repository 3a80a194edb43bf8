// Garbage over the wire, on the Knative port and over TLS: always a valid answer or a 4xx, never a crash, and whoever asks properly is answered
// all the while.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent as PlainAgent, request as plainRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import handler from '../../../functions/admission/handler.ts'
import { serve } from '../../../shared/runtime/serve.ts'
import { many } from '../../many.ts'
import { makeAuthority, makeCertificate } from '../../servers/certificates.ts'
import { bases, deps, failed, fault, log } from './fuzz-bases.ts'
import { mutated, seeded } from './mutate.ts'

t.setTimeout(240_000)
const folder = await mkdtemp(join(tmpdir(), 'adm-wire-'))
t.teardown(() => rm(folder, { recursive: true }))
const authority = await makeAuthority(folder)
await makeCertificate(authority, folder, 'tls', [{ type: 'ip', value: '127.0.0.1' }])
const ca = authority.certificate.toString('pem')
const env = { HOST: '127.0.0.1', PORT: '0', TLS_PORT: '0', TLS_DIR: folder, LOG_LEVEL: 'silent' }
const served = await serve({ ...handler, open: async () => ({ ...deps, log }) }, { env })
const agents = [new PlainAgent({ keepAlive: true }), new TlsAgent({ keepAlive: true, ca })]
t.teardown(async () => {
  for (const agent of agents) agent.destroy()
  await served.close()
})
const urls = { plain: served.url, TLS: served.tlsUrl as string }
type Port = keyof typeof urls
const ports = Object.keys(urls) as Port[]

interface Told {
  status: number
  text: string
}
async function ask(port: Port, body: string | Buffer | undefined, options: RequestOptions = {}, path = '/admit'): Promise<Told> {
  const send = port === 'TLS' ? tlsRequest : plainRequest
  const sent = send(`${urls[port]}${path}`, { method: 'POST', agent: agents[ports.indexOf(port)], ...options })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.end(body)
  const [answer] = await answered
  return { status: answer.statusCode ?? 0, text: await text(answer) }
}
const sound = bases[0] as string
const isSound = async (port: Port): Promise<boolean> => (await ask(port, sound)).status === 200

for (const port of ports) {
  t.test(`${port}: mutated reviews on many connections at once`, async t => {
    const random = seeded(port.length)
    const rounds = many(2000)
    const faults: string[] = []
    let sent = 0
    const worker = async (): Promise<void> => {
      while (sent < rounds) {
        const body = mutated(random, bases[sent++ % bases.length] as string)
        const wrong = fault(await ask(port, body, {}, sent % 10 === 5 ? '/stamp' : '/admit'))
        if (wrong !== undefined && faults.length < 5) faults.push(`${wrong}: ${body.slice(0, 2000)}`)
      }
    }
    await Promise.all(Array.from({ length: 16 }, worker))
    t.strictSame(faults, [])
  })

  t.test(`${port}: bodies that are no review`, async t => {
    const deep = (n: number) => sound.replace('"spec":{', `"spec":{"deep":${'{"a":'.repeat(n)}1${'}'.repeat(n)},`)
    const large = (n: number) => sound.replace('"spec":{', `"spec":{"large":"${'x'.repeat(n)}",`)
    const bodies: Array<[name: string, body: string | Buffer | undefined, status: number]> = [
      ['nothing', undefined, 400],
      ['a word', 'review', 400],
      ['null', 'null', 400],
      ['a list', '[]', 400],
      ['another version', sound.replace('admission.k8s.io/v1', 'admission.k8s.io/v1beta1'), 400],
      ['another kind', sound.replace('"AdmissionReview"', '"TokenReview"'), 400],
      ['no request', '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', 400],
      ['a connection to somewhere', sound.replace('"CREATE"', '"CONNECT"'), 400],
      ['bytes that are no text', Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7) % 256)), 400],
      ['gzip that nobody asked for', Buffer.from('1f8b0800000000000003', 'hex'), 400],
      ['3 MB in a field', large(3 * 1024 * 1024), 422],
      ['a thousand levels', deep(1000), 422],
      ['a hundred thousand levels', deep(100_000), 422],
      ['an open end', '['.repeat(1_000_000), 400]
    ]
    for (const [name, body, wanted] of bodies) {
      const answer = await ask(port, body)
      t.equal(fault(answer), undefined, name)
      // what is only large or deep may be judged as well: the field is unknown, and that is the API server's business
      t.ok(answer.status === wanted || (wanted === 422 && answer.status === 200), `${name}: ${answer.status}`)
      t.ok(await isSound(port), 'the next one is answered')
    }
  })

  t.test(`${port}: more than is read`, async t => {
    const body = sound.replace('"spec":{', `"spec":{"large":"${'x'.repeat(9 * 1024 * 1024)}",`)
    // Who is still writing when the connection closes may not get to read the answer.
    const answer = await ask(port, body).catch((err: NodeJS.ErrnoException) => ({ status: err.code, text: '' }))
    t.ok([413, 'EPIPE', 'ECONNRESET'].includes(answer.status ?? 0), `${answer.status} ${answer.text}`)
    t.ok(await isSound(port), 'the next one is answered')
  })

  t.test(`${port}: other methods and paths`, async t => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) t.equal((await ask(port, undefined, { method })).status, 405, method)
    const { status } = await ask(port, sound, {}, '/no-such-path')
    t.ok(status >= 400 && status < 500, `another path: ${status}`)
  })

  t.test(`${port}: peers that go in the middle, or never speak HTTP`, async t => {
    const { port: number } = new URL(urls[port])
    const open = async (): Promise<Socket> => {
      const options = { host: '127.0.0.1', port: Number(number) }
      const socket = port === 'TLS' ? connectTls({ ...options, ca }) : connect(options)
      socket.on('error', () => undefined) // it is we who are rude
      await once(socket, port === 'TLS' ? 'secureConnect' : 'connect')
      return socket
    }
    const head = `POST /admit HTTP/1.1\r\nhost: x\r\ncontent-length: ${sound.length}\r\n\r\n`
    for (const said of ['', head, `${head}${sound.slice(0, 100)}`, `${head}${sound}`]) {
      const socket = await open()
      socket.write(said)
      socket.destroy()
      t.ok(await isSound(port), `after ${said.length} bytes`)
    }
    const stranger = await open()
    const answer = text(stranger)
    stranger.write('\u0016\u0003 no HTTP at all\r\n\r\n')
    t.match(await answer, /^HTTP\/1.1 400/)
    t.ok(await isSound(port))
  })
}

t.test('what is no TLS is no harm to those who speak it', async t => {
  const { port } = new URL(urls.TLS)
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
  await once(socket, 'connect')
  socket.write('POST /admit HTTP/1.1\r\n\r\n')
  await once(socket, 'close')
  t.ok(await isSound('TLS'))
})

t.test('no error on our side', async t => {
  t.strictSame(failed, [])
  t.notOk('polluted' in {}, 'no prototype was touched')
})
