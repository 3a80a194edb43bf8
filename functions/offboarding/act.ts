import { tellActions } from '../../shared/openstack/audit.ts'
import { refuseCutCell } from '../../shared/openstack/cut-cell.ts'
import { attempt, type Result } from '../../shared/openstack/failure.ts'
import { isObserved, type HostDeps } from '../../shared/openstack/host-function.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { actionsOf, decide, isDue, isLeaving, manager, reflect, waitOf, type Options, type Remains, type Step } from './decide.ts'

export interface Deps extends HostDeps {
  options: Options
}

export async function settle(hypervisor: Hypervisor, deps: Deps): Promise<void> {
  if (!isLeaving(hypervisor)) return
  const { clock, options } = deps
  const waiting = waitOf(hypervisor)
  if (waiting) return write(hypervisor, waiting, undefined, deps)
  if (!isDue(hypervisor, clock(), options)) return
  const looked = await attempt(() => look(hypervisor, deps))
  if (!looked.ok) return write(hypervisor, { do: 'wait', step: 'Verify', waitingFor: 'OpenStack' }, looked.failure.words, deps)
  const step = decide(hypervisor, looked.value, options)
  if (isObserved(hypervisor, deps)) return observe(hypervisor, step, deps)
  const done = await act(step, deps)
  await write(hypervisor, step, done.ok ? undefined : done.failure.words, deps)
  if (done.ok) await tellActions(hypervisor, manager, actionsOf(step), deps)
}

async function write(hypervisor: Hypervisor, step: Step, problem: string | undefined, deps: Deps): Promise<void> {
  if (isObserved(hypervisor, deps)) return observe(hypervisor, step, deps)
  const status = reflect(hypervisor, step, problem, deps.clock(), deps.extended)
  await deps.kube.applyStatus(Hypervisor, { metadata: { name: hypervisor.metadata.name }, status }, { live: hypervisor })
}

/** HV-8: the intended step, and nothing else. */
async function observe(hypervisor: Hypervisor, step: Step, { kube, extended }: Deps): Promise<void> {
  if (!extended) return
  const offboarding = { step: `observe: ${step.do}`, ...('waitingFor' in step && { waitingFor: step.waitingFor }) }
  const { name } = hypervisor.metadata
  await kube.applyStatus(Hypervisor, { metadata: { name }, status: { offboarding } }, { live: hypervisor })
}

const ended = new Set(['completed', 'done', 'confirmed', 'reverted', 'cancelled', 'failed', 'error'])

/** HV-51: by stored id and by exact host. Nothing here is shared or old: what follows cannot be undone. */
async function look(hypervisor: Hypervisor, { cloud, listings }: Deps): Promise<Remains> {
  const { serviceId, hypervisorId, nova } = hypervisor.status ?? {}
  const host = nova?.host
  const [hosts, services, aggregates] = await Promise.all([
    listings.hypervisors({ fresh: true }),
    listings.services({ fresh: true }),
    listings.aggregates({ fresh: true })
  ])
  const service = services.find(({ id }) => id === serviceId)
  const name = host ?? service?.host
  refuseCutCell(services.find(each => each.host === name))
  const registered = hosts.find(({ id }) => id === hypervisorId)
  const [byHost, byId, migrations, provider] = await Promise.all([
    name === undefined ? [] : cloud.servers.list({ allProjects: true, host: name }),
    // the list by host leaves out what is in a cell that does not answer; this call fails then
    registered ? serversOf(registered.id, cloud) : [],
    name === undefined ? [] : cloud.migrations.list({ host: name }),
    hypervisorId ? cloud.resourceProviders.get(hypervisorId) : undefined
  ])
  const open = migrations.filter(({ status, source, target }) => !ended.has(status) && (source === name || target === name))
  return {
    hosts,
    aggregates: aggregates.filter(({ hosts }) => name !== undefined && hosts.includes(name)).map(aggregate => aggregate.name),
    servers: [...new Set([...byHost, ...byId].map(({ id }) => id))],
    migrations: open.map(({ server, status }) => `${server} (${status})`),
    service,
    provider,
    consumers: provider && !service ? await consumersOf(provider.id, cloud) : []
  }
}

const serversOf = async (id: string, { hypervisors }: Deps['cloud']): Promise<{ id: string }[]> =>
  (await hypervisors.withServers(id)).servers

async function consumersOf(provider: string, { resourceProviders, allocations }: Deps['cloud']): Promise<Remains['consumers']> {
  const ids = Object.keys(await resourceProviders.allocations(provider))
  return Promise.all(
    ids.map(async id => ({ id, elsewhere: Object.keys(await allocations.get(id)).some(other => other !== provider) }))
  )
}

async function act(step: Step, { cloud, listings }: Deps): Promise<Result<void>> {
  return attempt(async () => {
    if (step.do === 'delete-service') {
      await cloud.services.delete(step.id)
      listings.forget()
    }
    if (step.do === 'clean-provider') {
      for (const consumer of step.consumers) await cloud.allocations.delete(consumer)
      await cloud.resourceProviders.delete(step.id)
    }
  })
}
