// Host aggregates: C10, C11.
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
  /** 409 when it is a member already, or of an aggregate with another zone */
  addHost(aggregate: number, host: string): Promise<Aggregate>
  /** 404 when it is no member */
  removeHost(aggregate: number, host: string): Promise<Aggregate>
}

export function aggregates(send: Send): Aggregates {
  return {
    list: () => send(listAggregates, {}),
    addHost: (aggregate, host) => send(addHost, { aggregate: String(aggregate) }, { body: { add_host: { host } } }),
    removeHost: (aggregate, host) => send(removeHost, { aggregate: String(aggregate) }, { body: { remove_host: { host } } })
  }
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
