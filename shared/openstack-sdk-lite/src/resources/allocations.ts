// What a consumer (a server, or a migration that holds its old place) takes from providers: P8, P9.
import { call, deletedOrAbsent, type Send } from '../call.ts'
import { child, dictionary, number, row } from '../decode.ts'

/** by provider, then by resource class */
export type ConsumerAllocations = Record<string, Record<string, number>>

export const getAllocations = call({
  name: 'allocations.get',
  row: 'P8',
  service: 'placement',
  method: 'GET',
  path: '/allocations/{consumer}',
  since: '1.28',
  ok: [200, 404],
  decode: ({ status, body }): ConsumerAllocations =>
    status === 404 ? {} : dictionary(row(body), 'allocations', (from, key) => dictionary(child(from, key), 'resources', number))
})

export const deleteAllocations = call({
  name: 'allocations.delete',
  row: 'P9',
  service: 'placement',
  method: 'DELETE',
  path: '/allocations/{consumer}',
  since: '1.28',
  ok: [204, 404],
  decode: deletedOrAbsent
})

export interface Allocations {
  get(consumer: string): Promise<ConsumerAllocations>
  delete(consumer: string): Promise<'deleted' | 'absent'>
}

export function allocations(send: Send): Allocations {
  return {
    get: consumer => send(getAllocations, { consumer }),
    delete: consumer => send(deleteAllocations, { consumer })
  }
}
