// The endpoints in front of daemons that a healthy node does not have: slow, verbose, older, gone (spec/ovs.md §7).
import { once } from 'node:events'
import { type IncomingMessage, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { open } from 'ovsdb-client'
import t, { type Test } from 'tap'
import { Captures } from '../../../agents/ovs/capture/captures.ts'
import type { Daemons } from '../../../agents/ovs/daemons.ts'
import { readCertificate, sameCertificate } from '../../../agents/ovs/diagnostics/certificate.ts'
import { limits } from '../../../agents/ovs/diagnostics/limits.ts'
import { Refusal } from '../../../agents/ovs/diagnostics/refusal.ts'
import { renew, serveDiagnostics } from '../../../agents/ovs/diagnostics/server.ts'
import { healthOf } from '../../../agents/ovs/findings.ts'
import { UnixctlError } from '../../../agents/ovs/wire/unixctl.ts'
import { createLog } from '../../../shared/runtime/log.ts'
import { makeAuthority, makeCertificate } from '../../servers/certificates.ts'
import { eventually } from '../../servers/eventually.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { observed, tables } from './tables.ts'

const folder = t.testdir()
const authority = await makeAuthority(folder)
const address = [{ type: 'ip', value: '127.0.0.1' } as const]
await makeCertificate(authority, folder, 'one', address)
await makeCertificate(authority, folder, 'two', address)
const logged: string[] = []
const log = createLog({ name: 'test', level: 'info', to: { write: (line: string) => void logged.push(line) } })
const pair = async (name: string) => {
  const found = await readCertificate(`${folder}/${name}.crt`, `${folder}/${name}.key`, log)
  if (!found) throw new Error(`no certificate ${name}`)
  return found
}

type Answering = (command: string) => Promise<string>
/** Packets that the bridge has passed, at each question. */
type Counting = () => bigint

async function start(t: Test, answering: Answering, counting: Counting = () => 0n) {
  const unnumbered = [undefined, 0].map(ifindex => ({ name: `p${ifindex}`, interfaces: [{ name: `p${ifindex}`, ifindex }] }))
  const seen = observed({ tables: tables([{ name: 'br-int', ports: unnumbered }]) })
  const health = healthOf(seen, { expectedBridges: ['br-int'] })
  const daemons: Daemons = {
    ask: (_daemon, command) => answering(command),
    pid: async () => 1,
    statistics: async () => [[{ port: 1, rxPackets: counting() }]] as never // ports, the only statistics that endpoints ask for
  }
  const db = open({ remotes: ['unix:/nonexistent'], database: 'Open_vSwitch' })
  const clock = () => new Date()
  const server = await serveDiagnostics({
    certificate: await pair('one'),
    bindAddress: '127.0.0.1:0',
    admit: async authorization => {
      if (authorization === undefined) throw new Refusal(401, 'a bearer token is needed')
      return { username: authorization, groups: ['people'] }
    },
    limits: limits(() => Date.now()),
    sight: { daemons, observed: () => seen, health: () => health },
    captures: new Captures({ db, node: 'n1', clock, log, onChange: () => {} }),
    mirrorPorts: [],
    log,
    onTrace: () => {},
    count: () => {}
  })
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await db.close()
  })
  const { port } = server.address() as AddressInfo
  let people = 0
  const ask = async (method: string, path: string, body?: unknown, more: RequestOptions = {}) => {
    const headers = { authorization: `person ${people++}` }
    const asked = tlsRequest({ port, method, path, headers, rejectUnauthorized: false, agent: false, ...more })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const bytes = Buffer.concat((await Array.fromAsync(response)) as Buffer[])
    return { status: response.statusCode, bytes: bytes.length, json: JSON.parse(bytes.toString()) }
  }
  return { server, ask, port }
}

const trace = { bridge: 'br-int', flow: 'in_port=1' }

t.test('OV-59 two traces and one dump at a time; one more is told that it is busy', async t => {
  const held: Array<() => void> = []
  const { ask } = await start(t, () => new Promise(resolve => held.push(() => resolve('Final flow'))))
  const traces = [ask('POST', '/v1/trace', trace), ask('POST', '/v1/trace', trace)]
  await eventually('both to be under way', async () => held.length === 2)
  t.match(await ask('POST', '/v1/trace', trace), { status: 409, json: { error: /under way/ } })
  const dump = ask('GET', '/v1/bridges/br-int/flows')
  await eventually('the dump to be under way', async () => held.length === 3)
  t.equal((await ask('GET', '/v1/bridges/br-int/flows')).status, 409)
  t.equal((await ask('GET', '/v1/bridges')).status, 200, 'what is brief goes on')
  for (const release of held.splice(0)) release()
  for (const answer of await Promise.all([...traces, dump])) t.equal(answer.status, 200)
  const next = ask('POST', '/v1/trace', trace)
  await eventually('the next one', async () => held.length === 1)
  held[0]?.()
  t.equal((await next).status, 200, 'a place that was left is free')
})

t.test('OV-59 a reply has at most 4 MiB, and says when it was cut', async t => {
  let text = 'x'.repeat(5 * 1024 * 1024)
  const { ask } = await start(t, async () => text)
  const long = await ask('POST', '/v1/trace', trace)
  t.match(long, { status: 200, json: { truncated: true } })
  t.ok(long.bytes <= 4 * 1024 * 1024)
  text = '"'.repeat(5 * 1024 * 1024) // twice as long on its way
  t.equal((await ask('POST', '/v1/trace', trace)).status, 413)
  text = 'priority=1,actions=drop\n'.repeat(6000)
  const flows = await ask('GET', '/v1/bridges/br-int/flows?limit=5000')
  t.match(flows.json, { total: 6000, truncated: true })
  t.equal(flows.json.flows.length, 5000)
})

const failures: Array<[failure: Error, status: number, says: RegExp]> = [
  [new UnixctlError('timeout', 'no answer'), 504, /did not answer/],
  [new UnixctlError('rejected', `no: ${'y'.repeat(10_000)}`), 502, /^no: y{4092}$/],
  [new UnixctlError('not-running', 'nobody'), 503, /nobody/],
  [new UnixctlError('too-large', 'more than 16 MiB'), 413, /16 MiB/],
  [new UnixctlError('protocol', 'nonsense'), 503, /nonsense/],
  [new Error('a fault of ours'), 503, /^failed$/]
]
for (const [failure, status, says] of failures) {
  t.test(`OV-58 ${'code' in failure ? String(failure.code) : failure.message}: ${status}`, async t => {
    const { ask } = await start(t, () => Promise.reject(failure))
    t.match(await ask('POST', '/v1/trace', trace), { status, json: { error: says } })
  })
}

t.test('OV-61 every packet of a busy bridge cannot be sampled', async t => {
  let packets = 0n
  const { ask } = await start(
    t,
    async () => 'text',
    () => (packets += 10_000_000n)
  )
  const refused = await ask('POST', '/v1/captures', { bridge: 'br-int', sampling: 1 })
  t.match(refused, { status: 400, json: { error: /packets\/s: sampling 1 is refused/ } })
})

t.test('OV-61 frames of a port without an index cannot be told from those of others: refused', async t => {
  const { ask } = await start(t, async () => 'text')
  for (const port of ['pundefined', 'p0']) {
    const refused = await ask('POST', '/v1/captures', { bridge: 'br-int', port })
    t.match(refused, { status: 409, json: { error: /has no interface index/ } })
  }
})

t.test('OV-58 whoever sends far too much can still read why it was refused', async t => {
  const { ask } = await start(t, async () => 'text')
  const refused = await ask('POST', '/v1/trace', { bridge: 'br-int', flow: 'x'.repeat(4 * 1024 * 1024) })
  t.match(refused, { status: 413, json: { error: /more than/ } })
})

t.test('OV-20 what this version of the daemon does not have is not asked for', async t => {
  const asked: string[] = []
  const { ask } = await start(t, async command => {
    asked.push(command)
    return command === 'list-commands' ? 'The available commands are:\n  dpif/show  [-m]\n  memory/show\n' : 'text'
  })
  const { json } = await ask('GET', '/v1/datapath')
  t.strictSame(asked.toSorted(), ['dpif/show', 'list-commands', 'memory/show'])
  t.match(json, { 'dpif/show': { text: 'text' }, 'dpif-netdev/pmd-perf-show': { error: /has no/ } })
})

t.test('OV-65 each request gives one line, with what was asked for and without what was refused', async t => {
  const { ask } = await start(t, async () => 'text')
  logged.length = 0
  await ask('POST', '/v1/trace', trace)
  await ask('POST', '/v1/trace', { bridge: 'br-int', flow: '-generate' })
  await ask('GET', '//') // no path at all: answered like any other
  await ask('GET', '/v1/bridges', undefined, { headers: {} })
  const audit = logged.map(line => JSON.parse(line) as { time: unknown; audit: object })
  matchWhole(t, audit, [
    {
      audit: {
        user: /^person/,
        groups: ['people'],
        method: 'POST',
        path: '/v1/trace',
        parameters: trace,
        verdict: 200,
        durationMs: Number,
        bytes: Number
      }
    },
    { audit: { verdict: 400, parameters: null } },
    { audit: { verdict: 404, path: '/' } },
    { audit: { verdict: 401, user: null } }
  ])
  t.equal(audit.length, 4)
  t.ok(audit.every(({ time }) => time !== undefined))
})

t.test('a renewed certificate is used by the next connection; one that does not fit is not used at all', async t => {
  const { server, port } = await start(t, async () => 'text')
  const shown = async () => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { fingerprint256 } = socket.getPeerCertificate()
    socket.destroy()
    return fingerprint256
  }
  const before = await shown()
  renew(server, await pair('two'))
  t.not(await shown(), before)
  t.ok(sameCertificate(await pair('one'), await pair('one')))
  t.notOk(sameCertificate(await pair('one'), await pair('two')))
  logged.length = 0
  t.equal(await readCertificate(`${folder}/one.crt`, `${folder}/two.key`, log), undefined)
  matchWhole(t, logged, [/cannot be used/])
  t.equal(await readCertificate(`${folder}/none.crt`, `${folder}/none.key`, log), undefined)
  t.equal(logged.length, 1, 'that there is none is no fault')
})
