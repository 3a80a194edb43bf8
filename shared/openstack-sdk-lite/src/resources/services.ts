// Compute services: C3, C4, C5.
import { call, deletedOrAbsent, type Send } from '../call.ts'
import { child, flag, row, type Row, rows, text, textOrNull } from '../decode.ts'

export interface ComputeService {
  /** empty while its cell does not answer */
  id: string
  host: string
  binary: string
  zone: string | null
  /** unknown while its cell does not answer: Nova then tells the host and nothing else */
  status: 'enabled' | 'disabled' | 'unknown'
  /** as Nova judges it by the service's own reports, or `down` when forced */
  state: 'up' | 'down' | 'unknown'
  forcedDown: boolean
  disabledReason: string | null
  updated: string | null
}

export interface ServiceChange {
  status?: 'enabled' | 'disabled'
  disabledReason?: string
  forcedDown?: boolean
}

export const updateService = call({
  name: 'services.update',
  row: 'C3',
  service: 'compute',
  method: 'PUT',
  path: '/os-services/{service}',
  since: '2.53',
  ok: [200],
  decode: ({ body }) => decodeService(child(row(body), 'service'))
})

export const listServices = call({
  name: 'services.list',
  row: 'C4',
  service: 'compute',
  method: 'GET',
  path: '/os-services',
  since: '2.69',
  ok: [200],
  decode: ({ body }) => rows(row(body), 'services').map(decodeService)
})

export const deleteService = call({
  name: 'services.delete',
  row: 'C5',
  service: 'compute',
  method: 'DELETE',
  path: '/os-services/{service}',
  since: '2.53',
  ok: [204, 404],
  decode: deletedOrAbsent
})

export interface Services {
  list(filter?: { host?: string; binary?: string }): Promise<ComputeService[]>
  update(service: string, change: ServiceChange): Promise<ComputeService>
  /** 409 while it hosts servers or migrations are unfinished */
  delete(service: string): Promise<'deleted' | 'absent'>
}

export function services(send: Send): Services {
  return {
    list: ({ host, binary } = {}) => send(listServices, {}, { query: { host, binary } }),
    update: (service, { status, disabledReason, forcedDown }) =>
      send(updateService, { service }, { body: { status, disabled_reason: disabledReason, forced_down: forcedDown } }),
    delete: service => send(deleteService, { service })
  }
}

function decodeService(from: Row): ComputeService {
  const status = text(from, 'status')
  const state = textOrNull(from, 'state')
  const isCut = status === 'UNKNOWN' // since 2.69
  return {
    id: isCut ? '' : text(from, 'id'),
    host: text(from, 'host'),
    binary: text(from, 'binary'),
    zone: textOrNull(from, 'zone'),
    status: isCut ? 'unknown' : status === 'enabled' ? 'enabled' : 'disabled',
    state: state === 'up' || state === 'down' ? state : 'unknown',
    forcedDown: from['forced_down'] === undefined ? false : flag(from, 'forced_down'),
    disabledReason: textOrNull(from, 'disabled_reason'),
    updated: textOrNull(from, 'updated_at')
  }
}
