// The agent as it ships (its bundle, a process of its own) on a real Open vSwitch with 200 ports, 60 bonds and 10,000 flows; a real API server.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect as dial } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { column, open } from 'ovsdb-client'
import { startBundle } from '../runtime/bundled.ts'
import { eventually } from '../servers/eventually.ts'
import { asServiceAccount } from '../servers/identity.ts'
import { startKubernetes } from '../servers/real-kubernetes.ts'
import { prepare, startOvsLab } from '../servers/ovs.ts'
import { closing } from './lib/closing.ts'
import { confine } from './lib/confine.ts'
import { atMost, type Figures, type Report } from './lib/figures.ts'
import { megabytesAsMib, mib } from './lib/processes.ts'
import { shipped } from './lib/shipped.ts'

const bonds = 60
const ports = 200 - 2 * bonds
const quietSeconds = Number(process.env['IDLE_SECONDS'] ?? 30)

export const figures: Figures = {
  'ovs-agent.resident': { unit: 'MiB', goal: atMost(megabytesAsMib(90)), note: '90 MB' },
  'ovs-agent.cpu': { unit: '% of a core', goal: atMost(2), note: `at rest for ${quietSeconds} s` },
  'ovs-agent.link-down.p50': { unit: 'ms', of: 'p50' },
  'ovs-agent.link-down.p99': { unit: 'ms', of: 'p99', goal: atMost(100) },
  'ovs-agent.row-to-event.p50': { unit: 'ms', of: 'p50' },
  'ovs-agent.row-to-event.p99': { unit: 'ms', of: 'p99' }
}

const up = `
DUMMY=1 node.sh n1
V="ovs-vsctl --db=unix:$DIR/n1/db.sock"
$V add-br br-int -- set bridge br-int fail-mode=secure -- add-br br-ex
set --; for i in $(seq ${ports}); do set -- "$@" -- add-port br-int vm$i -- set interface vm$i external_ids:iface-id=lsp$i; done; $V "$@"
set --; for i in $(seq ${bonds}); do set -- "$@" -- add-bond br-ex bond$i a$i b$i bond_mode=active-backup; done; $V "$@"
for i in $(seq 10000); do echo "table=$((i % 30)),priority=$((i % 60000)),dl_type=0x0800,nw_dst=10.$((i / 65536)).$((i / 256 % 256)).$((i % 256)),actions=drop"; done > $DIR/flows
ovs-ofctl -O OpenFlow13 add-flows unix:$DIR/n1/br-int.mgmt $DIR/flows
`

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const prepared = await prepare()
    if (!prepared.ok) throw new Error(prepared.reason)
    const api = await startKubernetes()
    t.teardown(() => api.stop())
    const lab = await startOvsLab(t, up)
    const heard = new Map<string, number>()
    const sink = createServer((request, response) => {
      heard.set(String(request.headers['ce-subject']), performance.now())
      request.resume()
      response.writeHead(202).end()
    }).listen(0, '127.0.0.1')
    await once(sink, 'listening')
    t.teardown(() => (sink.closeAllConnections(), sink.close()))
    const folder = join(lab.dir, 'n1')
    const settings = await shipped('ovs-agent.yaml')
    const { command, note } = await confine(t, settings)
    const env = {
      NODE_NAME: 'n1',
      KUBECONFIG: await asServiceAccount(t, api, 'ovs-agent.yaml', 'ovs-agent'),
      K_SINK: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`,
      OVS_RUN_DIR: folder,
      OVN_RUN_DIR: folder,
      SPOOL_DIR: join(lab.dir, 'spool'),
      EXPECTED_BRIDGES: 'br-int,br-ex',
      ...settings.env
    }
    const { url } = await startBundle(t, 'agents/ovs/main.ts', env, command)
    const figure = async (metric: string) => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1])
    }
    await eventually(
      'the flows to be counted',
      async () => (await figure('ovs_bridge_flows{bridge="br-int"}')) === 10_000,
      120_000
    )
    await sleep(10_000) // what the start cost is not what it costs to run
    const before = await figure('process_cpu_seconds_total')
    await sleep(quietSeconds * 1000)
    const cpu = ((await figure('process_cpu_seconds_total')) - before) / quietSeconds
    report('ovs-agent.resident', mib(await figure('process_resident_memory_bytes')), { note })
    report('ovs-agent.cpu', cpu * 100, { note })

    const pid = (await readFile(join(folder, 'ovs-vswitchd.pid'), 'utf8')).trim()
    // what Open vSwitch itself takes until its database tells: no agent can be faster
    const db = open({ remotes: [`unix:${join(folder, 'db.sock')}`], database: 'Open_vSwitch' })
    t.teardown(() => db.close())
    const told = new Map<string, number>()
    const cards = db.monitor({ Interface: { name: column.string, admin_state: column.optional(column.string) } })
    await cards.waitFor(rows => rows('Interface').size > 0)
    void followCards(cards, told)
    const times: number[] = []
    const own: number[] = []
    for (let bond = 1; bond <= bonds; bond++) {
      const subject = `bond${bond}/a${bond}`
      const sent = performance.now()
      await control(join(folder, `ovs-vswitchd.${pid}.ctl`), 'netdev-dummy/set-admin-state', [`a${bond}`, 'down'])
      const at = await eventually(`the event of ${subject}`, async () => heard.get(subject))
      times.push(at - sent)
      own.push(at - (await eventually(`the row of a${bond}`, async () => told.get(`a${bond}`))))
    }
    for (const p of ['p50', 'p99']) {
      report(`ovs-agent.link-down.${p}`, times, { note })
      report(`ovs-agent.row-to-event.${p}`, own, { note })
    }
  })

/** When a card was first told to be down. */
async function followCards(
  cards: { changes(): AsyncIterable<{ kind: string; changes?: ReadonlyArray<{ after?: Card | undefined }> }> },
  told: Map<string, number>
): Promise<void> {
  for await (const news of cards.changes())
    for (const { after } of news.changes ?? []) if (after?.admin_state === 'down') told.set(after.name, performance.now())
}

interface Card {
  name: string
  admin_state?: string | undefined
}

/** A command that the agent itself cannot express. */
async function control(path: string, method: string, params: string[]): Promise<void> {
  const socket = dial({ path })
  socket.write(JSON.stringify({ id: 0, method, params }))
  await once(socket, 'data')
  socket.destroy()
}
