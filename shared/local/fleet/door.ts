// The control door: loopback only, and only for those who can read the file beside the kubeconfig.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { simulatorFileOf, type Done, type SimulatorAddress } from '../../runtime/simulator.ts'
import { isActionName, shownActions } from './actions/catalogue.ts'
import { Undoable } from './actions/find.ts'
import { BadArguments, perform } from './actions/perform.ts'
import type { Fleet } from './fleet.ts'
import { shownFleet } from './shown.ts'

const maxBodyBytes = 64 * 1024

export interface Door extends SimulatorAddress {
  file: string
  close(): Promise<void>
}

interface Answer {
  status: number
  body: object
}

const refused = (status: number, error: string): Answer => ({ status, body: { error } satisfies Done })

export async function openDoor(fleet: Fleet, kubeconfig: string): Promise<Door> {
  const token = randomBytes(32).toString('base64url')
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    void answer(fleet, token, request).then(reply => send(response, reply))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = simulatorFileOf(kubeconfig)
  await writeFile(file, `${JSON.stringify({ url, token } satisfies SimulatorAddress)}\n`, { mode: 0o600 })
  await chmod(file, 0o600) // a file that was there keeps its mode otherwise
  return {
    url,
    token,
    file,
    async close() {
      await rm(file, { force: true })
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}

async function answer(fleet: Fleet, token: string, request: IncomingMessage): Promise<Answer> {
  if (!knows(request, token)) return refused(401, 'the token of sim.json is missing or another one')
  const { method, url: path = '/' } = request
  if (method === 'GET' && path === '/actions') return { status: 200, body: { actions: shownActions() } }
  if (method === 'GET' && path === '/fleet') return { status: 200, body: shownFleet(fleet) }
  if (method === 'GET' && path === '/history') return { status: 200, body: { history: fleet.history } }
  const [, name] = /^\/actions\/([a-z-]+)$/.exec(path) ?? []
  if (method !== 'POST' || name === undefined) return refused(404, `there is no ${method} ${path}`)
  if (!isActionName(name)) return refused(404, `there is no action ${name}; GET /actions lists them`)
  try {
    return { status: 200, body: { did: await perform(fleet, name, await argumentsOf(request)) } satisfies Done }
  } catch (err) {
    if (err instanceof BadArguments) return refused(400, err.message)
    if (err instanceof Undoable) return refused(err.code === 'unknown' ? 404 : 409, err.message)
    fleet.onFault(err)
    return refused(500, `${name}: ${(err as Error).message}`)
  }
}

function knows({ headers }: IncomingMessage, token: string): boolean {
  const given = Buffer.from(headers.authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

async function argumentsOf(request: IncomingMessage): Promise<object> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > maxBodyBytes) throw new BadArguments('the arguments are too long')
  }
  try {
    const given: unknown = text === '' ? {} : JSON.parse(text)
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
  } catch (cause) {
    throw new BadArguments('the arguments are no JSON', { cause })
  }
  throw new BadArguments('the arguments are no JSON object')
}
