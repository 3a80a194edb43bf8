import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, request, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { nodeChanged } from '../../shared/events/objects.ts'
import { eventHeaders } from './platform.ts'

const main = fileURLToPath(new URL('../fixtures/functions/gated/main.ts', import.meta.url))
const body = JSON.stringify({ apiVersion: 'v1', kind: 'Node', name: 'n1' })

/** Holds back the answer of everyone who asks. */
async function gate(t: Test) {
  const asked: ServerResponse[] = []
  const server = createServer((_request, response) => {
    asked.push(response)
    server.emit('asked')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached: () => (asked.length > 0 ? Promise.resolve() : once(server, 'asked')),
    open: () => asked.splice(0).forEach(response => response.end())
  }
}

async function run(t: Test, env: Record<string, string>) {
  const child = spawn(process.execPath, ['--conditions=drover', main], {
    env: { PORT: '0', HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines: string[] = []
  const reader = createInterface(child.stdout).on('line', line => {
    lines.push(line)
    reader.emit('told')
  })
  const logged = async (text: string): Promise<string> => {
    for (;;) {
      const found = lines.find(line => line.includes(text))
      if (found !== undefined) return found
      await once(reader, 'told')
    }
  }
  const { url } = JSON.parse(await logged('listening')) as { url: string }
  return { child, url, logged, exit: exitOf(child) }
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}

async function post(url: string, agent?: Agent): Promise<{ status: number | undefined; connection: string | undefined }> {
  const sent = request(url, { method: 'POST', headers: eventHeaders(nodeChanged.type), ...(agent && { agent }) }).end(body)
  const [response] = await once(sent, 'response')
  response.resume()
  return { status: response.statusCode, connection: response.headers.connection }
}

t.test('SIGTERM: the running event is finished and answered, new ones are refused, exit 0', async t => {
  const held = await gate(t)
  const { child, url, logged, exit } = await run(t, { GATE_URL: held.url })
  const running = post(url)
  await held.reached()
  child.kill('SIGTERM')
  await logged('stopping')
  await t.rejects(post(url, new Agent()), 'no new connection')
  held.open()
  t.strictSame(await running, { status: 204, connection: 'close' })
  t.equal(await exit, 0)
  await logged('handled')
  await logged('"outcome":"done"')
})

t.test('an event that was half here when the signal came: 503, to be sent again, never a 4xx that would lose it', async t => {
  const held = await gate(t)
  const { child, url, logged, exit } = await run(t, { GATE_URL: held.url })
  const running = post(url)
  await held.reached()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: x\r\n')
  // Answered by the same loop: what was written before is read by then.
  await fetch(`${url}/healthz`)
  child.kill('SIGTERM')
  await logged('stopping')
  socket.write('content-length: 0\r\n\r\n')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  t.match(answer.toString(), /^HTTP\/1.1 503 [^]*connection: close/i)
  held.open()
  t.equal((await running).status, 204)
  t.equal(await exit, 0)
})

t.test('the end of the grace time: exit 1', async t => {
  const held = await gate(t)
  const { child, url, logged, exit } = await run(t, { GATE_URL: held.url, GRACE: '50ms' })
  const running = post(url)
  await held.reached()
  child.kill('SIGTERM')
  await t.rejects(running, 'the sender sees a lost connection, and sends again')
  t.equal(await exit, 1)
  await logged('grace time is over')
})

t.test('a second signal: exit 1', async t => {
  const held = await gate(t)
  const { child, url, logged, exit } = await run(t, { GATE_URL: held.url })
  const running = post(url)
  await held.reached()
  child.kill('SIGTERM')
  await logged('stopping')
  child.kill('SIGINT')
  await t.rejects(running)
  t.equal(await exit, 1)
})

t.test('a wrong configuration: exit 1, and every problem told', async t => {
  const child = spawn(process.execPath, ['--conditions=drover', main], {
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let told = ''
  child.stdout.on('data', chunk => (told += chunk))
  t.equal(await exitOf(child), 1)
  t.match(told, 'GATE_URL is missing, expected a string')
})
