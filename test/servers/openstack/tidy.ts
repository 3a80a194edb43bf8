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
    for (const { id, host, state } of await cloud.services.list({ binary: 'nova-compute' })) {
      const ours = found.hosts.includes(host)
      if (!ours) await found.stopAgent(host)
      else if (state === 'down') await found.startAgent(host)
      if (ours) await cloud.services.update(id, { status: 'enabled', forcedDown: false })
      else await cloud.services.delete(id)
    }
  } finally {
    cloud.close()
  }
}
