// Networks: N1.
import { call, type Send } from '../call.ts'
import { flag, row, rows, text, textOrNull } from '../decode.ts'

export interface Network {
  id: string
  name: string | null
  projectId: string | null
  shared: boolean
}

export const listNetworks = call({
  name: 'networks.list',
  row: 'N1',
  service: 'network',
  method: 'GET',
  path: '/v2.0/networks',
  ok: [200],
  decode: ({ body }): Network[] =>
    rows(row(body), 'networks').map(network => ({
      id: text(network, 'id'),
      name: textOrNull(network, 'name'),
      projectId: textOrNull(network, 'project_id'),
      shared: flag(network, 'shared')
    }))
})

export interface Networks {
  list(filter?: { name?: string; projectId?: string; shared?: boolean }): Promise<Network[]>
}

export function networks(send: Send): Networks {
  return {
    list: ({ name, projectId, shared } = {}) => send(listNetworks, {}, { query: { name, project_id: projectId, shared } })
  }
}
