// Host aggregates: C10, C11, C25.
import { call, type Send } from '../call.ts'
import { child, dictionary, number, row, type Row, rows, text, textOrNull, texts } from '../decode.ts'

export interface Aggregate {
  id: number
  uuid: string
  name: string
  zone: string | null
  hosts: string[]
  metadata: Record<string, string>
}

export const listAggregates = call({
  name: 'aggregates.list',
  row: 'C10',
  service: 'compute',
  method: 'GET',
  path: '/os-aggregates',
  since: '2.41',
  ok: [200],
  decode: ({ body }) => rows(row(body), 'aggregates').map(decodeAggregate)
})

export const createAggregate = call({
  name: 'aggregates.create',
  row: 'C25',
  service: 'compute',
  method: 'POST',
  path: '/os-aggregates',
  since: '2.41',
  ok: [200],
  decode: ({ body }) => withoutHosts(child(row(body), 'aggregate'))
})

const change = {
  row: 'C11',
  service: 'compute',
  method: 'POST',
  path: '/os-aggregates/{aggregate}/action',
  since: '2.41',
  ok: [200],
  decode: ({ body }: { body: unknown }) => decodeAggregate(child(row(body), 'aggregate'))
} as const
export const addHost = call({ ...change, name: 'aggregates.addHost' })
export const removeHost = call({ ...change, name: 'aggregates.removeHost' })

export interface Aggregates {
  list(): Promise<Aggregate[]>
  /** 409 when there is one of this name */
  create(wanted: { name: string; zone?: string | undefined }): Promise<Aggregate>
  /** 409 when it is a member already, or of an aggregate with another zone */
  addHost(aggregate: number, host: string): Promise<Aggregate>
  /** 404 when it is no member */
  removeHost(aggregate: number, host: string): Promise<Aggregate>
}

export function aggregates(send: Send): Aggregates {
  return {
    list: () => send(listAggregates, {}),
    create: ({ name, zone }) =>
      send(createAggregate, {}, { body: { aggregate: { name, ...(zone && { availability_zone: zone }) } } }),
    addHost: (aggregate, host) => send(addHost, { aggregate: String(aggregate) }, { body: { add_host: { host } } }),
    removeHost: (aggregate, host) => send(removeHost, { aggregate: String(aggregate) }, { body: { remove_host: { host } } })
  }
}

/** Nova's answer to a creation lacks both lists, which are known then. */
function withoutHosts(from: Row): Aggregate {
  const zone = textOrNull(from, 'availability_zone')
  return decodeAggregate({ ...from, hosts: [], metadata: zone === null ? {} : { availability_zone: zone } })
}

function decodeAggregate(from: Row): Aggregate {
  return {
    id: number(from, 'id'),
    uuid: text(from, 'uuid'),
    name: text(from, 'name'),
    zone: textOrNull(from, 'availability_zone'),
    hosts: texts(from, 'hosts'),
    metadata: dictionary(from, 'metadata', text)
  }
}
