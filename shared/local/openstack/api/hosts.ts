// Nova: hypervisors and compute services.
import { nova } from '../http/refusal.ts'
import { iso, pageOf, param, type Route, textOf } from '../http/request.ts'
import { forget, isUp, serversOn, setStatus, zoneOf } from '../world/hosts.ts'
import type { Host, World } from '../world/world.ts'
import { instanceName } from './servers.ts'

const known = (world: World): Host[] => [...world.hosts.values()].filter(host => host.serviceId !== null)
// what keeps DELETE /os-services from going through; `done` evacuations do not
const finished = new Set(['completed', 'done', 'confirmed', 'reverted', 'cancelled', 'failed', 'error'])

export const hostRoutes: Route[] = [
  {
    service: 'compute',
    method: 'GET',
    path: '/os-hypervisors/detail',
    handle(world, request) {
      const part = request.query.get('hypervisor_hostname_pattern')
      if (part === null) {
        const { items, links } = pageOf(known(world), ({ id }) => id, request, '/os-hypervisors/detail')
        return { status: 200, body: { hypervisors: items.map(showHypervisor), ...(links && { hypervisors_links: links }) } }
      }
      const found = known(world).filter(({ hypervisorHostname }) => hypervisorHostname.includes(part))
      if (found.length === 0) throw nova(404, `No hypervisor matching '${part}' could be found.`)
      return { status: 200, body: { hypervisors: found.map(showHypervisor) } }
    }
  },
  {
    service: 'compute',
    method: 'GET',
    path: '/os-hypervisors/{hypervisor}',
    handle(world, request) {
      const id = param(request, 'hypervisor')
      const host = known(world).find(host => host.id === id)
      if (!host) throw nova(404, `Compute host ${id} could not be found.`)
      const servers = serversOn(world, host.name).map(instance => ({ uuid: instance.id, name: instanceName(instance) }))
      return { status: 200, body: { hypervisor: { ...showHypervisor(host), servers } } }
    }
  },
  {
    service: 'compute',
    method: 'GET',
    path: '/os-services',
    handle(world, { query }) {
      const [host, binary] = [query.get('host'), query.get('binary')]
      const found = known(world).filter(
        ({ name }) => (host === null || name === host) && (binary === null || binary === 'nova-compute')
      )
      return { status: 200, body: { services: found.map(found => showService(world, found)) } }
    }
  },
  {
    service: 'compute',
    method: 'PUT',
    path: '/os-services/{service}',
    handle(world, request) {
      const host = withService(world, param(request, 'service'))
      const { status, forced_down: forcedDown, disabled_reason: reason } = request.body
      if (forcedDown === false) refuseWhileEvacuated(world, host)
      if (typeof forcedDown === 'boolean') host.forcedDown = forcedDown
      if (status === 'enabled' || status === 'disabled') setStatus(world, host, status, textOf(reason))
      host.updatedMs = world.clock.now()
      return { status: 200, body: { service: showService(world, host) } }
    }
  },
  {
    service: 'compute',
    method: 'DELETE',
    path: '/os-services/{service}',
    handle(world, request) {
      const host = withService(world, param(request, 'service'))
      if (serversOn(world, host.name).length > 0) {
        throw nova(409, 'Unable to delete compute service that is hosting instances. Migrate or delete the instances first.')
      }
      const moving = world.migrations.some(
        ({ source, target, status }) => (source === host.name || target === host.name) && !finished.has(status)
      )
      if (moving)
        throw nova(
          409,
          'Unable to delete compute service that has in-progress migrations. Complete the migrations or delete the instances first.'
        )
      forget(world, host)
      return { status: 204 }
    }
  }
]

function withService(world: World, id: string): Host {
  const host = known(world).find(({ serviceId }) => serviceId === id)
  if (!host) throw nova(404, `Service ${id} could not be found.`)
  return host
}

function refuseWhileEvacuated(world: World, { name, forcedDown }: Host): void {
  const left = world.migrations.some(({ source, type, status }) => source === name && type === 'evacuation' && status === 'done')
  if (forcedDown && left) {
    throw nova(400, `Unable to force up host ${name} as \`done\` evacuation migration records remain associated with the host.`)
  }
}

const showHypervisor = (host: Host): object => ({
  id: host.id,
  hypervisor_hostname: host.hypervisorHostname,
  state: isUp(host) ? 'up' : 'down',
  status: host.status,
  hypervisor_type: 'fake',
  hypervisor_version: 1000,
  host_ip: '127.0.0.1',
  service: { id: host.serviceId, host: host.name, disabled_reason: host.disabledReason }
})

const showService = (world: World, host: Host): object => ({
  id: host.serviceId,
  binary: 'nova-compute',
  host: host.name,
  zone: zoneOf(world, host.name),
  status: host.status,
  state: isUp(host) ? 'up' : 'down',
  updated_at: iso(host.updatedMs),
  disabled_reason: host.disabledReason,
  forced_down: host.forcedDown
})
