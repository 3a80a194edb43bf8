// kill -9 of a QEMU until it is decided and written, and until the server runs again. The policy's times are the shipped ones.
import type { Test } from 'tap'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { agentEnv, agentProcess, compute } from '../../functions/ha/compute.ts'
import { patienceMs, stage } from '../../functions/ha/stage.ts'
import { listen } from '../../node-libvirt/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { startKubernetes } from '../../servers/real-kubernetes.ts'
import { prepare, startLibvirt } from '../../servers/libvirt.ts'
import { closing } from '../lib/closing.ts'
import { atMost, type Figures, type Report } from '../lib/figures.ts'

const kills = Number(process.env['KILLS'] ?? 20)
const host = 'hv1'
const checkMs = 3000 // HA-9: waited on purpose
const peerSeconds = 60 // what peers publish as the default of their monitoring interval (spec/ha.md §10)

const raised = `RAISED: the function in the process of the bench, without the limits of its manifest, correlation.vms ${kills + 1}`
const decided = { unit: 'ms', note: `the 3 s of the check taken out; ${raised}` }
export const figures: Figures = {
  'reactions.killed-to-decided.p50': { ...decided, of: 'p50' },
  'reactions.killed-to-decided.p99': { ...decided, of: 'p99', goal: atMost(1000) },
  'reactions.killed-to-running': { unit: 's', against: 'an interval of 60 s (published default)', goal: atMost(1), note: raised }
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const prepared = await prepare()
    if (!prepared.ok) throw new Error(prepared.reason)
    const api = await startKubernetes()
    t.teardown(() => api.stop())
    const { nodes } = await startLibvirt(t)
    const [node] = nodes as [(typeof nodes)[number]]
    // one after the other is no coincidence to HA-15
    const it = await stage(t, api, host, `mode: drover\ncorrelation: { vms: ${kills + 1} }\n`)
    const { server, virt, killQemu, failures } = await compute(t, node, it.fake, host)
    const names = Array.from({ length: kills }, (_, n) => `s${n}`)
    const ids = new Map<string, string>()
    for (const name of names) ids.set(name, (await server(name)).uuid)
    const kubeconfig = await asServiceAccount(t, api, 'hypervisor-agent.yaml', 'hypervisor-agent')
    const { STATUS_GAP: _, ...env } = await agentEnv(t, { host, kubeconfig, sink: await it.running.relay(), node })
    await agentProcess(t, env)
    const seen = async (): Promise<boolean> => (await it.admin.find(Hypervisor, host))?.status?.instances?.length === kills
    await eventually('the agent', seen, patienceMs)
    const { events } = await listen(virt())
    const started = new Map<string, number>()
    const decisionOf = followDecisions(t, it.admin)

    const decisions: number[] = []
    const returns: number[] = []
    for (const name of names) {
      const id = ids.get(name) ?? ''
      const from = performance.now()
      await killQemu(name)
      const back = async (): Promise<number | undefined> => {
        if (
          !started.has(id) &&
          events.some(event => event.kind === 'lifecycle' && event.domain.uuid === id && event.event === 'started')
        )
          started.set(id, performance.now())
        return started.get(id)
      }
      returns.push((await eventually(`${name} again`, back, patienceMs)) - from)
      decisions.push((await eventually(`its decision`, async () => decisionOf.get(id), patienceMs)) - from - checkMs)
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the host did not do what Nova was asked for')
    for (const p of ['p50', 'p99']) report(`reactions.killed-to-decided.${p}`, decisions)
    const seconds = returns.map(ms => ms / 1000)
    report('reactions.killed-to-running', seconds, { peer: seconds.map(() => peerSeconds) })
  })

/** When a watcher first saw that a server's restart was decided, by server. */
function followDecisions(t: Pick<Test, 'teardown'>, admin: Awaited<ReturnType<typeof stage>>['admin']): Map<string, number> {
  const decided = new Map<string, number>()
  const stop = new AbortController()
  const follow = async (): Promise<void> => {
    for await (const news of admin.watch(Hypervisor, { signal: stop.signal })) {
      if (news.type !== 'changed') continue
      for (const { server, attempts = [] } of news.object.status?.ha?.incidents ?? [])
        if (attempts.length > 0 && !decided.has(server)) decided.set(server, performance.now())
    }
  }
  const following = follow()
  t.teardown(async () => {
    stop.abort()
    await following
  })
  return decided
}
