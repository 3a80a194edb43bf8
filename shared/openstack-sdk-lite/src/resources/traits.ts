// Traits that Placement knows: P3, P4.
import { call, type Send } from '../call.ts'
import { row, texts } from '../decode.ts'

export const listTraits = call({
  name: 'traits.known',
  row: 'P3',
  service: 'placement',
  method: 'GET',
  path: '/traits',
  since: '1.6',
  ok: [200],
  decode: ({ body }) => texts(row(body), 'traits')
})

export const createTrait = call({
  name: 'traits.create',
  row: 'P4',
  service: 'placement',
  method: 'PUT',
  path: '/traits/{trait}',
  since: '1.6',
  ok: [201, 204],
  decode: ({ status }): 'created' | 'present' => (status === 201 ? 'created' : 'present')
})

export interface Traits {
  /** which of these exist */
  known(names: readonly string[]): Promise<string[]>
  /** `CUSTOM_` and A–Z, 0–9, _ only; 400 otherwise */
  create(trait: string): Promise<'created' | 'present'>
}

export function traits(send: Send): Traits {
  return {
    known: async names => (names.length === 0 ? [] : send(listTraits, {}, { query: { name: `in:${names.join(',')}` } })),
    create: trait => send(createTrait, { trait })
  }
}
