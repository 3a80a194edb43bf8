// An OpenStack that another test has used, made as new: no servers, no aggregates, every host enabled, also for Placement, and alone in the list.
import { connect, OpenStackError, type Cloud } from 'openstack-sdk-lite'
import { eventually, patienceMs } from '../eventually.ts'
import type { OpenStack } from '../openstack.ts'
import { openRaw } from './raw.ts'

export async function tidy(found: OpenStack): Promise<void> {
  const cloud = await connect(found.options)
  try {
    const raw = await openRaw(found)
    for (const host of found.hosts) await found.setLiveMove(host, undefined)
    // deleted by its own host: one that is down would not do it
    const services = await cloud.services.list({ binary: 'nova-compute' })
    const well = (host: string) => services.some(service => service.host === host && service.state === 'up')
    for (const host of found.hosts) if (!well(host)) await found.startAgent(host) // killed or offboarded by a test
    await eventually('every host to be up', () => allUp(cloud, found.hosts), patienceMs)
    for (const { id } of await cloud.servers.list({ allProjects: true })) await cloud.servers.delete(id)
    await eventually(
      'the servers to be gone',
      async () => (await cloud.servers.list({ allProjects: true })).length === 0,
      patienceMs
    )
    for (const { id, hosts } of await cloud.aggregates.list()) {
      for (const host of hosts) await cloud.aggregates.removeHost(id, host)
      await raw('compute', 'DELETE', `/os-aggregates/${id}`)
    }
    for (const { id, host } of services.filter(({ host }) => !found.hosts.includes(host))) {
      await found.stopAgent(host)
      await eventually(`the service of ${host} to go`, () => deleted(cloud, id), patienceMs)
    }
    for (const host of found.hosts) await enable(cloud, host)
  } finally {
    cloud.close()
  }
}

async function allUp(cloud: Cloud, hosts: readonly string[]): Promise<boolean> {
  const services = await cloud.services.list({ binary: 'nova-compute' })
  for (const { id, host, forcedDown } of services)
    if (forcedDown && hosts.includes(host)) await cloud.services.update(id, { forcedDown: false })
  const up = (await cloud.hypervisors.list()).filter(({ state }) => state === 'up')
  return hosts.every(host => up.some(({ hostname }) => hostname === host))
}

/** Nova refuses for some seconds after the last server left. */
async function deleted(cloud: Cloud, service: string): Promise<boolean> {
  try {
    await cloud.services.delete(service)
    return true
  } catch (err) {
    if (err instanceof OpenStackError && err.code === 'Conflict') return false
    throw err
  }
}

/**
 * Nova tells Placement that a host is enabled again only when the service was disabled and its nova-compute is up; else the trait stays until
 * nova-compute looks for itself, which may be a minute later. So the service is disabled and enabled again while the trait is there.
 */
async function enable(cloud: Cloud, host: string): Promise<void> {
  const disabled = async (id: string): Promise<boolean> =>
    (await cloud.resourceProviders.traits(id)).traits.includes('COMPUTE_STATUS_DISABLED')
  await eventually(
    `${host} to be in service`,
    async () => {
      const hypervisor = (await cloud.hypervisors.search(host)).find(({ hostname }) => hostname === host)
      if (!hypervisor) return false
      if (hypervisor.status === 'enabled' && !(await disabled(hypervisor.id))) return hypervisor.state === 'up'
      const { id } = hypervisor.service
      if (hypervisor.status === 'enabled') await cloud.services.update(id, { status: 'disabled', disabledReason: 'tidy' })
      await cloud.services.update(id, { status: 'enabled' })
      return false
    },
    patienceMs
  )
}
