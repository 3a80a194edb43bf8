// Where something of this size would fit now: P11.
import { call, type Send } from '../call.ts'
import { child, dictionary, number, row, type Row, texts } from '../decode.ts'

export interface CandidateQuery {
  resources: Readonly<Record<string, number>>
  /** traits that the provider must have */
  required?: readonly string[]
  /** traits that it must not have, as `COMPUTE_STATUS_DISABLED` */
  forbidden?: readonly string[]
  /** 1 to 10: a proof or a prediction needs few */
  limit: number
}

export interface Candidate {
  provider: string
  traits: string[]
  /** by resource class */
  resources: Record<string, { capacity: number; used: number }>
}

export const listCandidates = call({
  name: 'allocationCandidates.list',
  row: 'P11',
  service: 'placement',
  method: 'GET',
  path: '/allocation_candidates',
  since: '1.28',
  ok: [200],
  decode: ({ body }) => {
    const summaries = child(row(body), 'provider_summaries')
    return Object.keys(summaries).map(provider => decodeCandidate(provider, child(summaries, provider)))
  }
})

export interface AllocationCandidates {
  list(query: CandidateQuery): Promise<Candidate[]>
}

export function allocationCandidates(send: Send): AllocationCandidates {
  return {
    list({ resources, required = [], forbidden = [], limit }) {
      const traits = [...required, ...forbidden.map(trait => `!${trait}`)].join(',')
      const wanted = Object.entries(resources).map(([name, amount]) => `${name}:${amount}`)
      return send(listCandidates, {}, { query: { resources: wanted.join(','), required: traits || undefined, limit } })
    }
  }
}

const decodeCandidate = (provider: string, from: Row): Candidate => ({
  provider,
  traits: texts(from, 'traits'),
  resources: dictionary(from, 'resources', (all, name) => ({
    capacity: number(child(all, name), 'capacity'),
    used: number(child(all, name), 'used')
  }))
})
