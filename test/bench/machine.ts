// Machines rendered and validated a second; the cost of a pass that changes nothing; 500 Machines at once on the real API server.
import { Registry } from 'prom-client'
import type { Test } from 'tap'
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
import type { Report } from './report.ts'

export const name = 'machine'
const machines = 500
const concurrency = 16

export async function run(report: Report): Promise<void> {
  report({ name: 'machine.render+validate', ours: perSecond(), goal: { atLeast: 5000 }, unit: 'Machines/s' })
  const closers: Array<() => unknown> = []
  const t = { teardown: (close: () => unknown) => void closers.push(close) } as unknown as Test
  const api = await startKubernetes()
  t.teardown(() => api.stop())
  try {
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
    const bare = await bareApplies(admin)
    const ours = await allAtOnce(admin, deps)
    report({ name: `machine.${machines}-at-once`, ours, peer: bare, goal: { atMost: 2 }, unit: 's' })
    const calls = await quietPass(deps)
    report({ name: 'machine.no-change.reads', ours: calls.reads, goal: { atMost: 2 }, unit: 'API reads' })
    report({ name: 'machine.no-change.writes', ours: calls.writes, goal: { atMost: 0 }, unit: 'API writes' })
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

function perSecond(): number {
  const once = (): void => {
    checkMachine(goldenMachine, undefined, noFacts)
    render(goldenMachine, networkOf, undefined, options)
  }
  for (let i = 0; i < 3000; i++) once()
  const startedAt = process.cpuUsage()
  const rounds = 10_000
  for (let i = 0; i < rounds; i++) once()
  const { user, system } = process.cpuUsage(startedAt)
  return rounds / ((user + system) / 1e6)
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

/** The same objects by whoever knows already what to write. */
async function bareApplies(admin: Kube): Promise<number> {
  await admin.create(Machine, { metadata: { name: 'warm', namespace: 'default' }, spec })
  const ready = Array.from({ length: machines }, (_, i) => {
    const given = { metadata: { name: `bare-${i}`, namespace: 'default', uid: 'u' }, spec }
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

async function allAtOnce(admin: Kube, deps: Deps): Promise<number> {
  for (let i = 0; i < machines; i += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        admin.create(Machine, { metadata: { name: `m-${i + n}`, namespace: 'default' }, spec })
      )
    )
  }
  return inParallel(machines, i => settle({ namespace: 'default', name: `m-${i}` }, deps))
}

async function quietPass(deps: Deps): Promise<{ reads: number; writes: number }> {
  const counts = { reads: 0, writes: 0 }
  const kube = new Proxy(deps.kube, {
    get(target, method: keyof Kube) {
      if (['find', 'list'].includes(method)) counts.reads++
      if (['create', 'patch', 'delete', 'event'].includes(method)) counts.writes++
      return target[method]
    }
  })
  const before = (await deps.kube.find(VirtualMachine, 'm-1', 'default'))?.metadata.resourceVersion
  await settle({ namespace: 'default', name: 'm-1' }, deps) // what others wrote meanwhile is seen
  counts.reads = 0
  const machine = await deps.kube.find(Machine, 'm-1', 'default')
  await settle({ namespace: 'default', name: 'm-1' }, { ...deps, kube })
  const after = await deps.kube.find(Machine, 'm-1', 'default')
  if (machine?.metadata.resourceVersion !== after?.metadata.resourceVersion) counts.writes++
  if (before !== (await deps.kube.find(VirtualMachine, 'm-1', 'default'))?.metadata.resourceVersion) counts.writes++
  return counts
}
