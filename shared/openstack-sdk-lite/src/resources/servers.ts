// Servers: C6, C7, C9, C12. What can be done to one is in server-actions.ts.
import { call, deletedOrAbsent, type Send } from '../call.ts'
import { child, row, text } from '../decode.ts'
import { collect, decodePage, stream } from '../pages.ts'
import { decodeServer, type Server } from './server.ts'

export const listServers = call({
  name: 'servers.list',
  row: 'C12',
  service: 'compute',
  method: 'GET',
  path: '/servers/detail',
  ok: [200],
  decode: decodePage('servers', decodeServer)
})

// the same address seen as a search by name: its own row, since it is asked in another project and by another function
export const findServers = call({ ...listServers, name: 'servers.find', row: 'C6' })

export const getServer = call({
  name: 'servers.get',
  row: 'C6',
  service: 'compute',
  method: 'GET',
  path: '/servers/{server}',
  ok: [200, 404],
  decode: ({ status, body }) => (status === 404 ? undefined : decodeServer(child(row(body), 'server')))
})

export const createServer = call({
  name: 'servers.create',
  row: 'C7',
  service: 'compute',
  method: 'POST',
  path: '/servers',
  since: '2.74', // "host" and "hypervisor_hostname"
  ok: [202],
  decode: ({ body }) => ({ id: text(child(row(body), 'server'), 'id') })
})

export const deleteServer = call({
  name: 'servers.delete',
  row: 'C9',
  service: 'compute',
  method: 'DELETE',
  path: '/servers/{server}',
  ok: [204, 404],
  decode: deletedOrAbsent
})

export interface ServerFilter {
  /** exactly this compute service */
  host?: string
  allProjects?: boolean
  status?: string
  changesSince?: string
  /** how many to ask for at a time; the service's own limit (1000) by default */
  pageSize?: number
}

export interface NewServer {
  name: string
  flavorId: string
  imageId?: string
  /** `zone:host` pins it and asks no scheduler */
  zone?: string
  /** pins it too, but only if the scheduler agrees */
  host?: string
  networks: 'none' | 'auto' | { network: string }[]
  /** boots from a new volume that goes away with the server */
  volume?: { sizeGiB: number; type?: string }
  /** a further, empty volume that is attached at boot and goes away with the server */
  attached?: { sizeGiB: number; type?: string }
  metadata?: Record<string, string>
  userData?: string
}

export interface Servers {
  stream(filter?: ServerFilter): AsyncGenerator<Server>
  list(filter?: ServerFilter): Promise<Server[]>
  /** whose whole name is this one, in the project of the caller */
  named(name: string): Promise<Server[]>
  get(server: string): Promise<Server | undefined>
  create(server: NewServer): Promise<{ id: string }>
  delete(server: string): Promise<'deleted' | 'absent'>
}

export function servers(send: Send): Servers {
  const pages = ({ host, allProjects, status, changesSince, pageSize }: ServerFilter = {}): AsyncGenerator<Server> =>
    stream(marker =>
      send(
        listServers,
        {},
        { query: { all_tenants: allProjects || undefined, host, status, 'changes-since': changesSince, limit: pageSize, marker } }
      )
    )
  return {
    stream: pages,
    list: filter => collect(pages(filter)),
    async named(name) {
      // Nova takes a regular expression in the database's dialect: anchored and escaped, and compared once more here
      const pattern = `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`
      const found = await collect(stream(marker => send(findServers, {}, { query: { name: pattern, marker } })))
      return found.filter(server => server.name === name)
    },
    get: server => send(getServer, { server }),
    create: server => send(createServer, {}, { body: { server: wireServer(server) } }),
    delete: server => send(deleteServer, { server })
  }
}

function wireServer({
  name,
  flavorId,
  imageId,
  zone,
  host,
  networks,
  volume: boot,
  attached,
  metadata,
  userData
}: NewServer): object {
  const disks = disksOf(imageId, boot, attached)
  return {
    name,
    flavorRef: flavorId,
    ...(imageId && !boot && { imageRef: imageId }),
    ...(disks.length > 0 && { block_device_mapping_v2: disks }),
    ...(zone && { availability_zone: zone }),
    ...(host && { host }),
    ...(metadata && { metadata }),
    ...(userData && { user_data: Buffer.from(userData).toString('base64') }),
    networks: typeof networks === 'string' ? networks : networks.map(({ network }) => ({ uuid: network }))
  }
}

function disksOf(imageId: string | undefined, boot: NewServer['volume'], attached: NewServer['attached']): object[] {
  const image = imageId ? { uuid: imageId, source_type: 'image' } : { source_type: 'blank' }
  // an image that is booted from a disk of the host must be named among the disks as soon as there are any
  const first = boot
    ? volume(boot, 0, image)
    : { ...image, boot_index: 0, destination_type: 'local', delete_on_termination: true }
  if (!attached) return boot ? [first] : []
  return [first, volume(attached, -1, { source_type: 'blank' })]
}

const volume = ({ sizeGiB, type }: { sizeGiB: number; type?: string }, bootIndex: number, source: object): object => ({
  boot_index: bootIndex,
  ...source,
  destination_type: 'volume',
  volume_size: sizeGiB,
  ...(type && { volume_type: type }),
  delete_on_termination: true
})
