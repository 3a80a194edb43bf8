// Long: API server, switch and agent are started once for all of it. The troubleshooting endpoints (spec/ovs.md §7) under the agent's own role: real tokens, a real switch with dummy cards, a real tshark.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { join } from 'node:path'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { open } from 'ovsdb-client'
import t from 'tap'
import { Captures } from '../../../agents/ovs/capture/captures.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { Event } from '../../../shared/kube/index.ts'
import { createLog } from '../../../shared/runtime/log.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { makeAuthority, makeCertificate } from '../../servers/certificates.ts'
import { eventually } from '../../servers/eventually.ts'
import { applyPolicies, asServiceAccount, tokenOnNode } from '../../servers/identity.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { startOvsLab } from '../../servers/ovs.ts'
import { request } from '../../servers/request.ts'
import { rightsOf } from '../../servers/rights.ts'
import { ovsNeeded } from '../../ovsdb-client/real.ts'
import { startAdmin, startDoomedAgent, startOvsAgent, startSink, statusWhen } from './lab.ts'

await ovsNeeded()
t.setTimeout(240_000)
const run = promisify(execFile)
const node = 'n1'
const namespace = 'ovn-system'

const api = await ownKubernetes(t)
const kubeconfig = await asServiceAccount(t, api, 'ovs-agent.yaml', 'ovs-agent')
const kube = await startAdmin(t, api.kubeconfig)
const lab = await startOvsLab(
  t,
  `DUMMY=1 node.sh n1
   ovs-vsctl --db=unix:$DIR/n1/db.sock -- add-br br-int -- set bridge br-int fail-mode=standalone -- add-port br-int p1 -- add-port br-int p2 -- add-port br-int p3 \
     -- add-bond br-int bond0 p4 p5 bond_mode=active-backup
   for i in 1 2 4 5; do ovs-vsctl --db=unix:$DIR/n1/db.sock set interface p$i options:ifindex=10$i; done # dummies have none of their own`,
  { hostNetwork: true }
)
const authority = await makeAuthority(lab.dir)
const makeDiagCertificate = () => makeCertificate(authority, lab.dir, 'diag', [{ type: 'ip', value: '127.0.0.1' }])
await makeDiagCertificate()
// a port of a domain that this node does not have: whether it is on the move is worth a question
await kube.apply(Hypervisor, { metadata: { name: node } })
await kube.applyStatus(Hypervisor, {
  metadata: { name: node },
  status: {
    instances: [{ id: '00000000-0000-0000-0000-000000000001', name: 'vm1', active: true }],
    numInstances: 1,
    agent: { lastHeartbeat: new Date().toISOString() }
  }
})
lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock set interface p2 external_ids:vm-id=00000000-0000-0000-0000-000000000009')
const sink = await startSink(t)
const logged: string[] = []
/** Where the newest agent has its endpoints: it takes port 0. */
// of the last line that names one: a certificate that is half written is told without a port
const portLine = (): string | undefined =>
  logged.findLast(line => /"port":\d+/.test(line) && line.includes('troubleshooting endpoints'))
const port = (): number => Number(portLine()?.match(/"port":(\d+)/)?.[1])
const setup = {
  dir: lab.dir,
  node,
  kubeconfig,
  namespace,
  sink: sink.url,
  env: {
    EXPECTED_BRIDGES: 'br-int',
    DIAG_BIND_ADDRESS: '127.0.0.1:0',
    DIAG_CERT_FILE: join(lab.dir, 'diag.crt'),
    DIAG_KEY_FILE: join(lab.dir, 'diag.key'),
    MIRROR_PORTS: 'p3',
    LOG_LEVEL: 'info'
  },
  timings: { certificatePollMs: 200 },
  logs: { write: (line: string) => void logged.push(line) }
}
const agent = await startOvsAgent(t, setup)
await statusWhen(kube, namespace, node, 'a first status', status => status.bridges?.length === 1)

/** A person's token: an account with the role for people, or without. */
async function token(name: string, audience: string, mayAsk: boolean): Promise<string> {
  const at = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await request(api, 'POST', at, { metadata: { name } })
  if (mayAsk) {
    await request(api, 'POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'drover-ovs-diagnostics' },
      subjects: [{ kind: 'ServiceAccount', name, namespace }]
    })
  }
  const { body } = await request<{ status: { token: string } }>(api, 'POST', `${at}/${name}/token`, {
    spec: { audiences: [audience] }
  })
  return body.status.token
}
let people = 0
const newcomer = () => token(`person-${people++}`, 'ovs-agent', true)

interface Reply {
  status: number
  json: any
  bytes: Buffer
}
function ask(
  bearer: string | undefined,
  method: string,
  path: string,
  body?: unknown,
  accept = 'application/json'
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { accept, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) }
    tlsRequest({ host: '127.0.0.1', port: port(), method, path, headers, rejectUnauthorized: false }, response => {
      const chunks: Buffer[] = []
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const bytes = Buffer.concat(chunks)
          const isJson = response.headers['content-type'] === 'application/json'
          resolve({ status: response.statusCode ?? 0, bytes, json: isJson ? JSON.parse(bytes.toString()) : undefined })
        })
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}

t.test('OV-56 who may ask, and who may not', async t => {
  t.equal((await ask(undefined, 'GET', '/v1/bridges')).status, 401)
  t.equal((await ask('nonsense', 'GET', '/v1/bridges')).status, 401)
  t.equal((await ask(await token('other-audience', 'somebody-else', true), 'GET', '/v1/bridges')).status, 401)
  const stranger = await token('stranger', 'ovs-agent', false)
  t.equal((await ask(stranger, 'GET', '/v1/bridges')).status, 403)
  t.equal((await ask(stranger, 'GET', '/v1/nothing')).status, 403, 'whoever may ask nothing learns nothing')
  t.equal((await ask(await newcomer(), 'GET', '/v1/nothing')).status, 404)
  const plain = new Promise((resolve, reject) =>
    plainRequest({ port: port(), path: '/v1/bridges' }, resolve).on('error', reject).end()
  )
  await t.rejects(plain, 'plain HTTP is refused')
})

t.test('the views', async t => {
  const me = await newcomer()
  t.match((await ask(me, 'GET', '/v1/bridges')).json, {
    bridges: [{ name: 'br-int', status: 'Degraded', reason: /fail mode/, ports: 5 }]
  })
  const bridge = await ask(me, 'GET', '/v1/bridges/br-int')
  t.match(bridge.json, { bridge: { name: 'br-int' }, statistics: [{ port: Number }], fdb: { text: /port/ } })
  t.match((await ask(me, 'GET', '/v1/bridges/br-int/flows?table=0&limit=1')).json, { flows: [/priority/], truncated: false })
  t.match((await ask(me, 'GET', '/v1/ports/p1')).json, { port: { name: 'p1', bridge: 'br-int' }, orphan: null })
  t.match((await ask(me, 'GET', '/v1/bonds/bond0')).json, {
    bond: { name: 'bond0', kind: 'ovs' },
    'bond/show': { text: /bond_mode: active-backup/ }
  })
  t.match((await ask(me, 'GET', '/v1/datapath')).json, { 'dpif/show': { text: /br-int/ }, 'memory/show': { text: String } })
  t.equal((await ask(me, 'GET', '/v1/ovn')).status, 503, 'there is no ovn-controller here')
  t.equal((await ask(me, 'GET', '/v1/bridges/br-none')).status, 404)
  t.equal((await ask(me, 'GET', '/v1/bridges/br-int/flows?limit=5001')).status, 400)
})

t.test('OV-57 a trace takes a flow and nothing else', async t => {
  const me = await newcomer()
  const flow = 'in_port=1,dl_src=50:54:00:00:00:01,dl_dst=50:54:00:00:00:02,dl_type=0x0800'
  t.match((await ask(me, 'POST', '/v1/trace', { bridge: 'br-int', flow })).json, { text: /Final flow/ })
  t.match((await ask(me, 'POST', '/v1/trace', { bridge: 'br-int', flow, ctNext: ['trk', 'est'] })).status, 200)
  for (const bad of ['-generate', '--ct-next=trk', 'in_port=1 -generate', 'a;b', 'x'.repeat(1025), '']) {
    t.equal((await ask(me, 'POST', '/v1/trace', { bridge: 'br-int', flow: bad })).status, 400, bad.slice(0, 20))
  }
  t.match(
    await ask(me, 'POST', '/v1/trace', { bridge: 'br-int', flow: 'nonsense=1' }),
    { status: 502, json: { error: /nonsense/ } },
    "the daemon's own words"
  )
  const next = await newcomer()
  t.equal(
    (await ask(next, 'POST', '/v1/trace', { bridge: 'br-int', flow, generate: true })).status,
    400,
    'nothing more can be said'
  )
  t.equal((await ask(next, 'POST', '/v1/trace', { bridge: 'br-int', flow: 'x'.repeat(20_000) })).status, 413)
})

t.test('OV-59 ten requests of one person a minute', async t => {
  const me = await newcomer()
  const all = await Promise.all(Array.from({ length: 12 }, () => ask(me, 'GET', '/v1/bridges')))
  t.equal(all.filter(({ status }) => status === 429).length, 2)
})

const frame = (last: string) => `ffffffffffff5054000000${last}080045000054000040004001f7550a0000010a000002${'00'.repeat(64)}`

t.test('OV-60 a capture of headers, which tshark reads', async t => {
  const me = await newcomer()
  const started = await ask(me, 'POST', '/v1/captures', { bridge: 'br-int', port: 'p1', seconds: 60, sampling: 1 })
  t.match(started, { status: 201, json: { state: 'running', mode: 'headers', bridge: 'br-int', port: 'p1' } })
  const { id } = started.json
  t.match((await sink.next('capture.started', 'p1')).data, { evidence: { id, mode: 'headers' } })
  t.equal((await ask(me, 'POST', '/v1/captures', { bridge: 'br-int' })).status, 409, 'one at a time')
  const state = await eventually('samples', async () => {
    lab.run(`OVS_RUNDIR=$DIR/n1 ovs-appctl netdev-dummy/receive p1 ${frame('01')}`)
    lab.run(`OVS_RUNDIR=$DIR/n1 ovs-appctl netdev-dummy/receive p2 ${frame('02')}`)
    const rows = lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock --columns=external_ids list sflow')
    t.match(rows, id, 'OV-63 the row carries its id')
    const file = await ask(await newcomer(), 'GET', `/v1/captures/${id}`)
    return file.json.packets >= 3 && file.json
  })
  t.match(state, { state: 'running' })
  const file = await ask(await newcomer(), 'GET', `/v1/captures/${id}`, undefined, 'application/x-pcapng')
  const path = join(lab.dir, 'capture.pcapng')
  await writeFile(path, file.bytes)
  const { stdout } = await run('tshark', [
    '-r',
    path,
    '-T',
    'fields',
    '-e',
    'eth.src',
    '-e',
    'ip.dst',
    '-e',
    'frame.interface_name'
  ])
  const lines = stdout.trim().split('\n')
  t.ok(lines.length >= 3)
  t.ok(
    lines.every(line => line.includes('10.0.0.2') && line.endsWith('p1')),
    stdout.slice(0, 300)
  )
  t.ok(
    lines.every(line => line.startsWith('50:54:00:00:00:01')),
    'and nothing of another port'
  )
  t.equal((await ask(me, 'DELETE', `/v1/captures/${id}`)).status, 200)
  t.match((await sink.next('capture.ended', 'p1')).data, { reason: 'deleted', evidence: { id } })
  t.equal(lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock list sflow'), '', 'nothing stays in the database')
  t.equal((await ask(me, 'GET', `/v1/captures/${id}`)).status, 404, 'OV-64 and nothing in memory')
  t.notMatch(logged.join(''), /50540000000[12]|5054/, 'nor in the log')
})

t.test('OV-62 a mirror goes to an allowed port alone, and ends by itself', async t => {
  const me = await newcomer()
  t.equal((await ask(me, 'POST', '/v1/captures', { bridge: 'br-int', port: 'p1', mode: 'mirror', outputPort: 'p2' })).status, 400)
  const started = await ask(me, 'POST', '/v1/captures', {
    bridge: 'br-int',
    port: 'p1',
    mode: 'mirror',
    outputPort: 'p3',
    seconds: 1
  })
  t.equal(started.status, 201)
  t.match((await sink.next('capture.ended', 'p1')).data, { reason: 'time' })
  t.equal(lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock list mirror'), '')
})

t.test('OV-64 the bytes of a capture are erased ten minutes after its end', async t => {
  const db = open({ remotes: [`unix:${lab.dir}/n1/db.sock`], database: 'Open_vSwitch' })
  t.teardown(() => db.close())
  const planned: Array<{ work: () => void; ms: number }> = []
  const later = (work: () => void, ms: number) => {
    planned.push({ work, ms })
    return setTimeout(() => {})
  }
  const log = createLog({ name: 'test', level: 'silent' })
  const captures = new Captures({ db, node, clock: () => new Date(), log, onChange: () => {}, later })
  const limits = { seconds: 60, maxBytes: 1e6, headerBytes: 128, sampling: 64 }
  const wish = { mode: 'headers', bridge: 'br-int', port: undefined, output: undefined, user: 'me', ...limits } as const
  const started = await captures.start(wish)
  if (!started) throw new Error('a capture runs already')
  const { id } = started
  t.strictSame(planned, [], 'not while it runs')
  await captures.end(id, 'time')
  t.match(captures.get(id), { state: 'ended', endReason: 'time' })
  t.ok(captures.file(id)?.length, 'its file can still be had')
  t.strictSame(
    planned.map(({ ms }) => ms),
    [600_000]
  )
  planned[0]?.work()
  t.equal(captures.get(id), undefined)
  t.equal(captures.file(id), undefined, 'nobody can ask for them any more')
})

t.test('OV-61 a capture of a bond has the frames of all its members, one of a member only its own', async t => {
  const frames = async (watched: string) => {
    const me = await newcomer()
    const { status, json } = await ask(me, 'POST', '/v1/captures', { bridge: 'br-int', port: watched, seconds: 60, sampling: 1 })
    t.equal(status, 201)
    const at = `/v1/captures/${json.id}`
    await eventually(`samples of ${watched}`, async () => {
      for (const card of [1, 4, 5]) lab.run(`OVS_RUNDIR=$DIR/n1 ovs-appctl netdev-dummy/receive p${card} ${frame(`0${card}`)}`)
      return (await ask(await newcomer(), 'GET', at)).json.packets >= 2
    })
    const { bytes } = await ask(me, 'GET', at, undefined, 'application/x-pcapng')
    await ask(me, 'DELETE', at)
    await sink.next('capture.ended', watched)
    const path = join(lab.dir, `${watched}.pcapng`)
    await writeFile(path, bytes)
    const { stdout } = await run('tshark', ['-r', path, '-T', 'fields', '-e', 'eth.src'])
    return new Set(stdout.trim().split('\n'))
  }
  for (const member of ['p4', 'p5']) {
    lab.run(`OVS_RUNDIR=$DIR/n1 ovs-appctl bond/set-active-member bond0 ${member}`)
    const source = `50:54:00:00:00:0${member.slice(1)}`
    t.strictSame(await frames(member), new Set([source]))
    t.ok((await frames('bond0')).has(source))
  }
})

t.test("OV-63 somebody else's sFlow is left alone", async t => {
  lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock -- --id=@s create sflow targets=\\"127.0.0.1:9\\" -- set bridge br-int sflow=@s')
  t.equal((await ask(await newcomer(), 'POST', '/v1/captures', { bridge: 'br-int' })).status, 409)
  t.match(lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock list sflow'), /127.0.0.1:9/)
  lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock clear bridge br-int sflow')
})

t.test('OV-63 a row that could not be removed when its capture ended goes when the database is back', async t => {
  const db = open({ remotes: [`unix:${lab.dir}/n1/db.sock`], database: 'Open_vSwitch', callTimeoutMs: 300 })
  t.teardown(() => db.close())
  const log = createLog({ name: 'test', level: 'silent' })
  const captures = new Captures({ db, node, clock: () => new Date(), log, onChange: () => {} })
  const limits = { seconds: 60, maxBytes: 1e6, headerBytes: 128, sampling: 64 }
  const state = await captures.start({
    mode: 'headers',
    bridge: 'br-int',
    port: undefined,
    output: undefined,
    user: 'me',
    ...limits
  })
  lab.run('kill -KILL $(cat $DIR/n1/ovsdb-server.pid)')
  await captures.end(state?.id ?? '', 'time')
  t.match(captures.get(state?.id ?? ''), { state: 'ended' }, 'its caller does not wait for the database')
  lab.run('DUMMY=1 node.sh n1')
  await eventually('the row to go', async () => lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock list sflow') === '')
  await captures.close()
  await statusWhen(kube, namespace, node, 'the database again', status => status.bridges?.length === 1)
})

t.test('a certificate that is renewed is shown without a restart', async t => {
  const shown = async () => {
    const socket = connect({ port: port(), host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { fingerprint256 } = socket.getPeerCertificate()
    socket.destroy()
    return fingerprint256
  }
  const before = await shown()
  await makeDiagCertificate()
  await eventually('the new certificate', async () => (await shown()) !== before)
  t.equal((await ask(await newcomer(), 'GET', '/v1/bridges')).status, 200)
})

t.test('OV-71 every metric of the table is there, with its type', async t => {
  const metrics = async () => (await fetch(`${agent.url}/metrics`)).text()
  const lines = [
    /^ovs_bridge_ports\{bridge="br-int"\} 5$/m,
    /^ovs_bridge_flows\{bridge="br-int"\} \d+$/m,
    /^ovs_interface_receive_bytes_total\{interface="p4"\} \d+$/m,
    /^ovs_interface_up\{interface="p4",bond="bond0"\} 1$/m,
    /^ovs_bond_status\{bond="bond0",status="Active"\} 1$/m,
    /^ovs_datapath_lookups_total\{datapath="\S+",result="missed"\} \d+$/m,
    /^ovs_condition\{type="OVSDBConnected",status="True"\} 1$/m,
    /^ovs_issues\{type="BridgeDegraded",severity="Warning"\} 1$/m,
    /^ovs_agent_events_total\{type="io.c5c3.ovs.capture.started.v1",result="sent"\} [1-9]/m,
    /^ovs_agent_call_duration_seconds_count\{peer="ovs-vswitchd",call="version"\} [1-9]/m,
    /^ovs_agent_call_duration_seconds_count\{peer="openflow",call="statistics"\} [1-9]/m,
    /^ovs_agent_call_duration_seconds_count\{peer="ovsdb",call="select"\} [1-9]/m,
    /^ovs_agent_diagnostics_total\{kind="trace",verdict="200"\} [1-9]/m
  ]
  // each is counted in its own time
  const missing = async () => {
    const text = await metrics()
    return lines.filter(line => !line.test(text))
  }
  await eventually('every line', async () => (await missing()).length === 0).catch(async () => t.strictSame(await missing(), []))
  const text = await metrics()
  const types = Object.fromEntries(Array.from(text.matchAll(/^# TYPE (ovs_\S+) (\S+)$/gm), ([, name, type]) => [name, type]))
  t.strictSame(types, {
    ovs_bridge_flows: 'gauge',
    ovs_bridge_ports: 'gauge',
    ovs_table_flows: 'gauge',
    ovs_interface_receive_packets_total: 'counter',
    ovs_interface_receive_bytes_total: 'counter',
    ovs_interface_transmit_packets_total: 'counter',
    ovs_interface_transmit_bytes_total: 'counter',
    ovs_interface_drops_total: 'counter',
    ovs_interface_errors_total: 'counter',
    ovs_interface_up: 'gauge',
    ovs_bond_member_usable: 'gauge',
    ovs_bond_status: 'gauge',
    ovs_datapath_lookups_total: 'counter',
    ovs_condition: 'gauge',
    ovs_issues: 'gauge',
    ovs_agent_events_total: 'counter',
    ovs_agent_event_queue_length: 'gauge',
    ovs_agent_reconnects_total: 'counter',
    ovs_agent_call_duration_seconds: 'histogram',
    ovs_agent_observed_timestamp_seconds: 'gauge',
    ovs_agent_diagnostics_total: 'counter'
  })
  t.notMatch(text, /interface="p1"/, 'ports of guests are not shown unless asked for')
  t.equal((await fetch(`${agent.url}/healthz`)).status, 200)
  t.equal((await fetch(`${agent.url}/readyz`)).status, 200)
})

t.test('OV-65 every request is in the audit, and traces and captures are Events of the OVSNode', async t => {
  const audit = logged
    .map(
      line => JSON.parse(line) as { audit?: { verdict: number; user: string | null; path: string; parameters: object | null } }
    )
    .flatMap(line => line.audit ?? [])
  for (const verdict of [200, 201, 400, 401, 403, 404, 409, 413, 429, 502])
    t.ok(
      audit.some(line => line.verdict === verdict),
      String(verdict)
    )
  t.ok(
    audit.some(({ user, path }) => user === `system:serviceaccount:${namespace}:person-1` && path === '/v1/bridges/br-int/flows')
  )
  t.ok(audit.some(({ parameters }) => JSON.stringify(parameters)?.includes('"port":"p1","seconds":60')))
  t.notMatch(logged.join(''), /Bearer|eyJ/, 'no token in the log')
  await eventually('the Events', async () => {
    const { items } = await kube.list(Event, { namespace })
    return ['Trace', 'CaptureStarted', 'CaptureEnded'].every(reason =>
      items.some(item => item.reason === reason && item.regarding?.name === node)
    )
  })
})

t.test('OV-63 a capture whose agent is killed is taken away by the next one', async t => {
  await agent.close()
  const doomed = await startDoomedAgent(t, setup)
  const started = await eventually('its endpoints', async () => {
    const me = await newcomer() // each may ask ten times a minute
    const reply = await ask(me, 'POST', '/v1/captures', { bridge: 'br-int', seconds: 60 }).catch(() => undefined)
    return reply?.status === 201 && reply
  })
  await doomed.kill()
  const { id: lost } = started.json
  t.match(lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock list sflow'), lost, 'its row stays, linked')
  await startOvsAgent(t, setup)
  await statusWhen(kube, namespace, node, 'the leftover', status =>
    status.issues?.some(({ id, severity }) => id === `CaptureLeftover/${lost}` && severity === 'Info')
  )
  t.equal(lab.run('ovs-vsctl --db=unix:$DIR/n1/db.sock list sflow'), '')
})

t.test('OV-1 under exactly its role: its object, which belongs to its node', async t => {
  const stored = await kube.find(OVSNode, node, namespace)
  t.strictSame(stored?.spec, { nodeRef: { name: node } })
  t.ok(stored?.metadata.managedFields?.some(({ manager, operation }) => manager === 'drover-ovs-agent' && operation === 'Apply'))
})

t.test('OV-68 its role is the smallest that works', async t => {
  const forPeople = ['get ovs.c5c3.io/ovsnodes/diagnostics', 'create ovs.c5c3.io/ovsnodes/trace']
  const captures = ['create', 'get', 'delete'].map(verb => `${verb} ovs.c5c3.io/ovsnodes/captures`)
  const granted = { unused: [...forPeople, ...captures], refused: [] }
  await startOvsAgent(t, setup) // it asks for moves every few seconds, which the others may not have lived to do
  await eventually('every right to be used', async () => {
    const { unused } = await rightsOf(api, 'ovs-agent.yaml', 'ovs-agent')
    return unused.length === granted.unused.length
  })
  t.strictSame(await rightsOf(api, 'ovs-agent.yaml', 'ovs-agent'), granted)
})

t.test('the API server is away: links are told all the same, nobody is let in, and the status follows later', async t => {
  await startOvsAgent(t, setup)
  const me = await newcomer()
  await statusWhen(kube, namespace, node, 'a bond', status => status.interfaces?.bonds?.[0]?.status === 'Active')
  sink.asked()
  await api.kill('kube-apiserver')
  lab.run('OVS_RUNDIR=$DIR/n1 ovs-appctl netdev-dummy/set-admin-state p5 down')
  const lost = await sink.next('bond-member.lost', 'bond0/p5')
  t.equal((await ask(me, 'GET', '/v1/bridges')).status, 503, 'OV-56 never allowed by default')
  await api.up()
  const status = await statusWhen(kube, namespace, node, 'the loss', ({ issues }) =>
    issues?.some(({ id }) => id === 'BondMemberDown/bond0/p5')
  )
  t.match(
    status.issues?.find(({ object }) => object === 'bond0/p5'),
    { detectedAt: lost.data.detectedAt }
  )
  lab.run('OVS_RUNDIR=$DIR/n1 ovs-appctl netdev-dummy/set-admin-state p5 up')
  await sink.next('bond-member.restored', 'bond0/p5')
})

t.test('OV-5 by the shipped policy an agent may write the OVSNode of its own node only', async t => {
  await applyPolicies(api, 'ovs-agent.yaml')
  const token = await tokenOnNode(api, namespace, 'ovs-agent', 'n1')
  const write = (name: string) =>
    request(
      { ...api, adminToken: token },
      'PATCH',
      `/apis/ovs.c5c3.io/v1alpha1/namespaces/${namespace}/ovsnodes/${name}?fieldManager=x&force=true`,
      { apiVersion: 'ovs.c5c3.io/v1alpha1', kind: 'OVSNode', metadata: { name }, spec: { nodeRef: { name } } },
      { 'content-type': 'application/apply-patch+yaml' }
    )
  await eventually('the policy to hold', async () => (await write('another')).status === 422)
  t.equal((await write('n1')).status, 200)
})
