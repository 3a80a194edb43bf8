// Hypervisors: C1, C2.
// From 2.88 on Nova asks every listed nova-compute for its uptime, one after the other: a host that is just starting, or dead but not yet
// known to be, then holds the answer for a minute (seen on the real one), and a thousand hosts cost a thousand messages. Hence 2.87.
import { call, type Send } from '../call.ts'
import { child, row, type Row, rows, text, textOrNull } from '../decode.ts'
import { collect, decodePage, stream } from '../pages.ts'

export interface Hypervisor {
  /** also the id of its resource provider */
  id: string
  hostname: string
  state: string
  status: string
  type: string
  hostIp: string | null
  service: { id: string; host: string; disabledReason: string | null }
}

export interface HypervisorServer {
  id: string
  name: string
}

export const searchHypervisors = call({
  name: 'hypervisors.search',
  row: 'C1',
  service: 'compute',
  method: 'GET',
  path: '/os-hypervisors/detail',
  since: '2.53',
  until: '2.87',
  ok: [200, 404], // 404: nothing matches
  decode: answer => (answer.status === 404 ? { items: [], marker: null } : decodePage('hypervisors', decodeHypervisor)(answer))
})

export const getHypervisor = call({
  name: 'hypervisors.withServers',
  row: 'C2',
  service: 'compute',
  method: 'GET',
  path: '/os-hypervisors/{hypervisor}',
  since: '2.75', // before, an empty list of servers was left out
  until: '2.87',
  ok: [200],
  decode: ({ body }) => {
    const hypervisor = child(row(body), 'hypervisor')
    const servers = rows(hypervisor, 'servers').map(server => ({ id: text(server, 'uuid'), name: text(server, 'name') }))
    return { ...decodeHypervisor(hypervisor), servers }
  }
})

export interface Hypervisors {
  /** whose hostname CONTAINS the text: choose among them by equality */
  search(part: string): Promise<Hypervisor[]>
  list(options?: { pageSize?: number }): Promise<Hypervisor[]>
  withServers(id: string): Promise<Hypervisor & { servers: HypervisorServer[] }>
}

export function hypervisors(send: Send): Hypervisors {
  return {
    search: async part => (await send(searchHypervisors, {}, { query: { hypervisor_hostname_pattern: part } })).items,
    list: ({ pageSize } = {}) => collect(stream(marker => send(searchHypervisors, {}, { query: { limit: pageSize, marker } }))),
    withServers: hypervisor => send(getHypervisor, { hypervisor }, { query: { with_servers: true } })
  }
}

function decodeHypervisor(from: Row): Hypervisor {
  const service = child(from, 'service')
  return {
    id: text(from, 'id'),
    hostname: text(from, 'hypervisor_hostname'),
    state: text(from, 'state'),
    status: text(from, 'status'),
    type: text(from, 'hypervisor_type'),
    hostIp: textOrNull(from, 'host_ip'),
    service: { id: text(service, 'id'), host: text(service, 'host'), disabledReason: textOrNull(service, 'disabled_reason') }
  }
}
