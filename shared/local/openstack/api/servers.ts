// Nova: servers as they are listed, shown, made and deleted.
import { nova } from '../http/refusal.ts'
import {
  type Incoming,
  isObject,
  isoOrNull,
  isotime,
  objectIn,
  pageOf,
  param,
  type Route,
  since,
  textOf
} from '../http/request.ts'
import { type Schema, validate } from '../http/schema.ts'
import { isUp } from '../world/agents.ts'
import { zoneOf } from '../world/hosts.ts'
import { build, createInstance, removeInstance, statusOf } from '../world/instances.ts'
import type { Flavor, Instance, World } from '../world/world.ts'

export function findInstance(world: World, id: string): Instance {
  const found = world.instances.get(id)
  if (!found) throw nova(404, `Instance ${id} could not be found.`)
  return found
}

export const serverRoutes: Route[] = [
  {
    service: 'compute',
    method: 'GET',
    path: '/servers/detail',
    handle(world, request) {
      const { items, links } = pageOf(selected(world, request), ({ id }) => id, request, '/servers/detail')
      return {
        status: 200,
        body: { servers: items.map(instance => show(world, instance, request)), ...(links && { servers_links: links }) }
      }
    }
  },
  {
    service: 'compute',
    method: 'GET',
    path: '/servers/{server}',
    handle(world, request) {
      const instance = findInstance(world, param(request, 'server'))
      return {
        status: 200,
        body: { server: { ...show(world, instance, request), ...since(request, 71, { server_groups: instance.groups }) } }
      }
    }
  },
  { service: 'compute', method: 'POST', path: '/servers', handle: create },
  {
    service: 'compute',
    method: 'DELETE',
    path: '/servers/{server}',
    handle(world, request) {
      removeInstance(world, findInstance(world, param(request, 'server')), request.requestId)
      return { status: 204 }
    }
  }
]

function selected(world: World, { query, who }: Incoming): Instance[] {
  const name = query.get('name')
  const pattern = name === null ? null : new RegExp(name)
  const [host, status] = [query.get('host'), query.get('status')]
  const since = Date.parse(query.get('changes-since') ?? '')
  return [...world.instances.values()]
    .filter(
      instance =>
        (query.has('all_tenants') || instance.projectId === who.projectId) &&
        (host === null || (instance.host === host && !instance.cellDown)) && // the API knows no host of what is in a cell that is away
        (status === null || statusOf(instance) === status) &&
        (pattern === null || pattern.test(instance.name)) &&
        (Number.isNaN(since) || instance.updatedMs >= since)
    )
    .reverse() // the newest first
}

/** nova/api/openstack/compute/schemas/servers.py; what is inside networks and block devices is not looked at. */
function creation(version: number): Schema {
  const text: Schema = { type: ['string'], minLength: 1, maxLength: 255 }
  const always = [
    'adminPass',
    'config_drive',
    'key_name',
    'security_groups',
    'user_data',
    'block_device_mapping_v2',
    'min_count',
    'max_count'
  ]
  const later: Record<string, number> = {
    description: 19,
    tags: 52,
    trusted_image_certificates: 63,
    host: 74,
    hypervisor_hostname: 74,
    hostname: 90
  }
  const names = [...always, ...Object.keys(later).filter(name => version >= (later[name] ?? 0))]
  const server: Schema = {
    properties: {
      ...Object.fromEntries(names.map(name => [name, {}])),
      name: text,
      flavorRef: { type: ['string', 'integer'] },
      imageRef: { type: ['string'] },
      availability_zone: text,
      metadata: { type: ['object'] },
      networks: version >= 37 ? { type: ['array', 'string'] } : { type: ['array'] }
    },
    required: ['name', 'flavorRef', ...(version >= 37 ? ['networks'] : [])]
  }
  return { properties: { server, 'os:scheduler_hints': { type: ['object'] } }, required: ['server'] }
}

function create(world: World, { body, who, requestId, version, base }: Incoming): { status: number; body: object } {
  validate(creation(version), body)
  const wanted = objectIn(body, 'server')
  const flavor = world.flavors.get(textOf(wanted['flavorRef']) ?? '')
  if (!flavor) throw nova(400, `Flavor ${String(wanted['flavorRef'])} could not be found.`)
  const [zone = null, pinned = null] = (textOf(wanted['availability_zone']) ?? '').split(':').map(part => part || null)
  const host = textOf(wanted['host']) ?? pinned
  if (host !== null && !world.hosts.get(host)?.serviceId) throw nova(400, `Compute host ${host} could not be found.`)
  if (zone !== null && ![...world.hosts.keys()].some(name => zoneOf(world, name) === zone))
    throw nova(400, 'The requested availability zone is not available')
  const hints = isObject(body['os:scheduler_hints']) ? body['os:scheduler_hints'] : {}
  const group = textOf(hints['group'])
  if (group !== null && !world.groups.has(group)) throw nova(400, `Instance group ${group} could not be found.`)
  const metadata = isObject(wanted['metadata']) ? (wanted['metadata'] as Record<string, string>) : {}
  const instance = createInstance(world, {
    ...who,
    name: textOf(wanted['name']) ?? '',
    flavor,
    imageId: textOf(wanted['imageRef']),
    zone,
    metadata,
    groups: group === null ? [] : [group]
  })
  build(world, instance, host, requestId)
  return {
    status: 202,
    body: { server: { id: instance.id, links: links(base, instance), security_groups: [{ name: 'default' }], adminPass: 'fake' } }
  }
}

const links = (base: string, { id }: Instance): object[] => [{ rel: 'self', href: `${base}/servers/${id}` }]

function show(world: World, instance: Instance, request: Incoming): object {
  const { id, projectId, host } = instance
  const created = isotime(instance.createdMs)
  const shell = { id, status: statusOf(instance), tenant_id: projectId, created, links: links(request.base, instance) }
  if (instance.cellDown) return shell // what Nova shows from 2.69 on
  const { name, vmState, taskState, powerState, flavor, fault, imageId, userId, locked, metadata, launchedMs, updatedMs } =
    instance
  const live = host === null ? undefined : world.hosts.get(host)
  return {
    ...shell,
    name,
    user_id: userId,
    metadata,
    image: imageId === null ? '' : { id: imageId, links: [] },
    flavor: showFlavor(flavor),
    updated: isotime(updatedMs),
    addresses: {},
    'OS-EXT-AZ:availability_zone': host === null ? '' : zoneOf(world, host),
    'OS-SRV-USG:launched_at': isoOrNull(launchedMs),
    'OS-SRV-USG:terminated_at': null,
    'OS-EXT-SRV-ATTR:host': host,
    'OS-EXT-SRV-ATTR:hypervisor_hostname': live?.hypervisorHostname ?? null,
    'OS-EXT-SRV-ATTR:instance_name': instanceName(instance),
    'OS-EXT-STS:task_state': taskState,
    'OS-EXT-STS:vm_state': vmState,
    'OS-EXT-STS:power_state': powerState,
    'os-extended-volumes:volumes_attached': [],
    ...since(request, 9, { locked }),
    ...since(request, 16, {
      host_status: live ? (isUp(world, live) ? (live.status === 'disabled' ? 'MAINTENANCE' : 'UP') : 'DOWN') : ''
    }),
    ...since(request, 26, { tags: [] }),
    ...since(request, 73, { locked_reason: null }),
    ...(fault &&
      statusOf(instance) === 'ERROR' && { fault: { code: 500, message: fault.message, created: isotime(fault.createdMs) } })
  }
}

export const instanceName = ({ number }: Instance): string => `instance-${number.toString(16).padStart(8, '0')}`

const showFlavor = ({ name, vcpus, ramMiB, diskGiB, requiredTraits }: Flavor): object => ({
  original_name: name,
  vcpus,
  ram: ramMiB,
  disk: diskGiB,
  ephemeral: 0,
  swap: 0,
  extra_specs: Object.fromEntries(requiredTraits.map(trait => [`trait:${trait}`, 'required']))
})
