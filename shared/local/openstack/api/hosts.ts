// Nova: hypervisors and compute services.
import { nova } from '../http/refusal.ts'
import { type Incoming, iso, pageOf, param, type Reply, type Route, since, textOf } from '../http/request.ts'
import { booleans, isTrue, type Schema, validate } from '../http/schema.ts'
import { isUp, lastReport } from '../world/agents.ts'
import { forget, serversOn, setStatus, zoneOf } from '../world/hosts.ts'
import { hasOpenMoves } from '../world/init-host.ts'
import type { Host, World } from '../world/world.ts'
import { instanceName } from './servers.ts'

const known = (world: World): Host[] => [...world.hosts.values()].filter(host => host.serviceId !== null)
const reason: Schema = { type: ['string'], minLength: 1, maxLength: 255 }
const service: Schema = {
  properties: {
    status: { type: ['string'], enum: ['enabled', 'disabled'] },
    disabled_reason: reason,
    forced_down: { enum: booleans }
  }
}

export const hostRoutes: Route[] = [
  {
    service: 'compute',
    method: 'GET',
    path: '/os-hypervisors/detail',
    handle(world, request) {
      const part = request.query.get('hypervisor_hostname_pattern')
      if (part === null) {
        const { items, links } = pageOf(known(world), ({ id }) => id, request, '/os-hypervisors/detail')
        return {
          status: 200,
          body: {
            hypervisors: items.map(host => showHypervisor(world, host, request)),
            ...(links && { hypervisors_links: links })
          }
        }
      }
      const found = known(world).filter(({ hypervisorHostname }) => hypervisorHostname.includes(part))
      if (found.length === 0) throw nova(404, `No hypervisor matching '${part}' could be found.`)
      return { status: 200, body: { hypervisors: found.map(host => showHypervisor(world, host, request)) } }
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
      return { status: 200, body: { hypervisor: { ...showHypervisor(world, host, request), servers } } }
    }
  },
  {
    service: 'compute',
    method: 'GET',
    path: '/os-services',
    handle(world, request) {
      const [host, binary] = [request.query.get('host'), request.query.get('binary')]
      const found = known(world).filter(
        ({ name }) => (host === null || name === host) && (binary === null || binary === 'nova-compute')
      )
      return { status: 200, body: { services: found.map(found => showService(world, found, request)) } }
    }
  },
  {
    service: 'compute',
    method: 'PUT',
    path: '/os-services/{service}',
    handle: update
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
      if (hasOpenMoves(world, host))
        throw nova(
          409,
          'Unable to delete compute service that has in-progress migrations. Complete the migrations or delete the instances first.'
        )
      forget(world, host)
      return { status: 204 }
    }
  }
]

/** nova/api/openstack/compute/services.py, from 2.53 on */
function update(world: World, request: Incoming): Reply {
  validate(service, request.body)
  const host = withService(world, param(request, 'service'))
  const { status, forced_down: forcedDown, disabled_reason: reason } = request.body
  if (status === 'enabled' && reason !== undefined)
    throw nova(400, "Specifying 'disabled_reason' with status 'enabled' is invalid.")
  if (status === undefined && forcedDown === undefined)
    throw nova(400, "No updates were requested. Fields 'status' or 'forced_down' should be specified.")
  if (forcedDown !== undefined && !isTrue(forcedDown)) refuseWhileEvacuated(world, host)
  if (forcedDown !== undefined) host.forcedDown = isTrue(forcedDown)
  if (status === 'enabled' || status === 'disabled') setStatus(world, host, status, textOf(reason))
  host.updatedMs = world.clock.now()
  return { status: 200, body: { service: showService(world, host, request) } }
}

function withService(world: World, id: string): Host {
  const host = known(world).find(({ serviceId }) => serviceId === id)
  if (!host) throw nova(404, `Service ${id} could not be found.`)
  return host
}

function refuseWhileEvacuated(world: World, { name }: Host): void {
  const left = world.migrations.some(({ source, type, status }) => source === name && type === 'evacuation' && status === 'done')
  if (left) {
    throw nova(400, `Unable to force up host ${name} as \`done\` evacuation migration records remain associated with the host.`)
  }
}

const showHypervisor = (world: World, host: Host, request: Incoming): object => ({
  id: host.id,
  hypervisor_hostname: host.hypervisorHostname,
  state: isUp(world, host) ? 'up' : 'down',
  status: host.status,
  hypervisor_type: 'fake',
  hypervisor_version: 1000,
  host_ip: '127.0.0.1',
  service: { id: host.serviceId, host: host.name, disabled_reason: host.disabledReason },
  ...(request.version < 88 ? counts(world, host) : { uptime: null })
})

/** what 2.88 took away */
function counts(world: World, { id, name }: Host): object {
  const { inventories, used } = world.providers.get(id) ?? { inventories: new Map(), used: new Map() }
  const [vcpus, memory_mb, local_gb] = ['VCPU', 'MEMORY_MB', 'DISK_GB'].map(what => inventories.get(what)?.total ?? 0)
  const [vcpus_used, memory_mb_used, local_gb_used] = ['VCPU', 'MEMORY_MB', 'DISK_GB'].map(what => used.get(what) ?? 0)
  const running_vms = serversOn(world, name).length
  return { vcpus, memory_mb, local_gb, vcpus_used, memory_mb_used, local_gb_used, running_vms, current_workload: 0 }
}

const showService = (world: World, host: Host, request: Incoming): object => ({
  id: host.serviceId,
  binary: 'nova-compute',
  host: host.name,
  zone: zoneOf(world, host.name),
  status: host.status,
  state: isUp(world, host) ? 'up' : 'down',
  updated_at: iso(Math.max(host.updatedMs, lastReport(world, host))),
  disabled_reason: host.disabledReason,
  ...since(request, 11, { forced_down: host.forcedDown })
})
