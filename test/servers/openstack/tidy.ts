// An OpenStack that another test has used, made as new: no servers, no aggregates, every host enabled and alone in the list.
import { connect } from 'openstack-sdk-lite'
import { eventually } from '../eventually.ts'
import type { OpenStack } from '../openstack.ts'
import { openRaw } from './raw.ts'

export async function tidy(found: OpenStack): Promise<void> {
  const cloud = await connect(found.options)
  try {
    const raw = await openRaw(found)
    for (const host of found.hosts) await found.setLiveMove(host, undefined)
    for (const { id } of await cloud.servers.list({ allProjects: true })) await cloud.servers.delete(id)
    await eventually('the servers to be gone', async () => (await cloud.servers.list({ allProjects: true })).length === 0)
    for (const { id, hosts } of await cloud.aggregates.list()) {
      for (const host of hosts) await cloud.aggregates.removeHost(id, host)
      await raw('compute', 'DELETE', `/os-aggregates/${id}`)
    }
    const services = await cloud.services.list({ binary: 'nova-compute' })
    const gone = found.hosts.filter(name => !services.some(({ host }) => host === name)) // offboarded by a test
    for (const host of gone) await found.startAgent(host)
    for (const { id, host, state } of services) {
      const ours = found.hosts.includes(host)
      if (!ours) await found.stopAgent(host)
      else if (state === 'down') await found.startAgent(host)
      if (ours) await cloud.services.update(id, { status: 'enabled', forcedDown: false })
      else await cloud.services.delete(id)
    }
    await eventually(
      'every host to be in service',
      async () => {
        const up = (await cloud.hypervisors.list()).filter(({ state, status }) => state === 'up' && status === 'enabled')
        return found.hosts.every(host => up.some(({ hostname }) => hostname === host))
      },
      60_000
    )
  } finally {
    cloud.close()
  }
}
