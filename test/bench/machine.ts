// Machines rendered and validated a second; the cost of a pass that changes nothing; 500 Machines at once on the real API server.
import { Registry } from 'prom-client'
import { config } from '../../functions/machine/config.ts'
import type { Deps } from '../../functions/machine/deps.ts'
import { VirtualMachine } from '../../functions/machine/kubevirt.ts'
import { openDeps } from '../../functions/machine/open.ts'
import { settle } from '../../functions/machine/pass.ts'
import { render } from '../../functions/machine/render.ts'
import { connect, PersistentVolumeClaim, type Kube } from '../../shared/kube/index.ts'
import { checkMachine } from '../../shared/rules/machine.ts'
import { noFacts } from '../../shared/rules/machine-facts.ts'
import { readConfig } from '../../shared/runtime/config.ts'
import { createLog } from '../../shared/runtime/log.ts'
import { Machine } from '../../shared/schema/machine.ts'
import { goldenMachine, networkOf, options } from '../functions/machine/fixtures.ts'
import { asServiceAccount } from '../servers/identity.ts'
import { startKubernetes } from '../servers/real-kubernetes.ts'
import { installMachineCrds } from '../servers/machine-crds.ts'
import { closing } from './lib/closing.ts'
import { unconfined } from './lib/confine.ts'
import { atLeast, atMost, type Figures, type Report } from './lib/figures.ts'
import { shipped } from './lib/shipped.ts'
import { alternate } from './lib/statistics.ts'

const machines = Number(process.env['MACHINES'] ?? 500)
const concurrency = 16

export const figures: Figures = {
  'machine.render+validate': { unit: 'Machines/s of CPU', goal: atLeast(5000) },
  'machine.at-once': {
    unit: 's',
    against: 'bare applies of the same objects',
    goal: atMost(2),
    note: `${machines} Machines a round, ${concurrency} at a time`
  },
  'machine.no-change.reads': { unit: 'API reads', goal: atMost(2) },
  'machine.no-change.writes': { unit: 'API writes', goal: atMost(0) }
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const note = unconfined(await shipped('machine.yaml'))
    renderAndCheck(3000) // warm
    const speeds = await alternate(report.rounds(5), { ours: () => renderAndCheck(10_000) })
    report('machine.render+validate', speeds.ours, { note })
    const api = await startKubernetes()
    t.teardown(() => api.stop())
    await installMachineCrds(api)
    const kubeconfig = await asServiceAccount(t, api, 'machine.yaml', 'kubevirt-operator-controller-manager')
    const admin = await connect({ manager: 'bench', kubeconfig: api.kubeconfig, timeoutMs: 60_000 })
    t.teardown(() => admin.close())
    const deps = await openDeps(readConfig(config, { env: { KUBECONFIG: kubeconfig } }), {
      log: createLog({ name: 'bench', level: 'silent' }),
      clock: () => new Date(),
      emit: async () => {},
      metrics: new Registry(),
      signal: new AbortController().signal,
      onClose: close => t.teardown(close)
    })
    await admin.create(Machine, { metadata: { name: 'warm', namespace: 'default' }, spec })
    await settle({ namespace: 'default', name: 'warm' }, deps)
    const runs = await alternate(report.rounds(3), {
      peer: round => bareApplies(admin, round),
      ours: round => allAtOnce(admin, deps, round)
    })
    report('machine.at-once', runs.ours, { peer: runs.peer, note })
    const calls = await quietPass(deps)
    report('machine.no-change.reads', calls.reads)
    report('machine.no-change.writes', calls.writes)
  })

/** So many a second of CPU. */
function renderAndCheck(times: number): number {
  const startedAt = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    checkMachine(goldenMachine, undefined, noFacts)
    render(goldenMachine, networkOf, undefined, options)
  }
  const { user, system } = process.cpuUsage(startedAt)
  return times / ((user + system) / 1e6)
}

async function inParallel(count: number, work: (i: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  let next = 0
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await work(i)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return (performance.now() - startedAt) / 1000
}

const spec: Machine['spec'] = { template: 'small' }

/** The same objects by a client that knows already what to write. Seconds. */
async function bareApplies(admin: Kube, round: number): Promise<number> {
  const ready = Array.from({ length: machines }, (_, i) => {
    const given = { metadata: { name: `bare-${round}-${i}`, namespace: 'default', uid: 'u' }, spec }
    return render(given, networkOf, undefined, options)
  })
  return inParallel(machines, async i => {
    const { vm, claims } = ready[i] as (typeof ready)[number]
    const plain = <T extends { metadata: object }>(object: T): T => ({
      ...object,
      metadata: { ...object.metadata, ownerReferences: undefined }
    })
    for (const claim of claims) await admin.apply(PersistentVolumeClaim, plain(claim))
    await admin.apply(VirtualMachine, plain(vm))
  })
}

/** Seconds. The Machines themselves are there before: they are the user's. */
async function allAtOnce(admin: Kube, deps: Deps, round: number): Promise<number> {
  const name = (i: number): string => `m-${round}-${i}`
  await inParallel(machines, i => admin.create(Machine, { metadata: { name: name(i), namespace: 'default' }, spec }))
  return inParallel(machines, i => settle({ namespace: 'default', name: name(i) }, deps))
}

const quiet = 'm-0-1'

async function quietPass(deps: Deps): Promise<{ reads: number; writes: number }> {
  const counts = { reads: 0, writes: 0 }
  const kube = new Proxy(deps.kube, {
    get(target, method: keyof Kube) {
      if (['find', 'list'].includes(method)) counts.reads++
      if (['create', 'patch', 'delete', 'event'].includes(method)) counts.writes++
      return target[method]
    }
  })
  const before = (await deps.kube.find(VirtualMachine, quiet, 'default'))?.metadata.resourceVersion
  await settle({ namespace: 'default', name: quiet }, deps) // what others wrote meanwhile is seen
  counts.reads = 0
  const machine = await deps.kube.find(Machine, quiet, 'default')
  await settle({ namespace: 'default', name: quiet }, { ...deps, kube })
  const after = await deps.kube.find(Machine, quiet, 'default')
  if (machine?.metadata.resourceVersion !== after?.metadata.resourceVersion) counts.writes++
  if (before !== (await deps.kube.find(VirtualMachine, quiet, 'default'))?.metadata.resourceVersion) counts.writes++
  return counts
}
