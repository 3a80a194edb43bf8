import type { Domain } from '../domain.ts'
import type { Reader } from '../xdr/reader.ts'

/** One kind of domain event: its id when registering (VIR_DOMAIN_EVENT_ID_*), the number of its message, what the message holds. */
export interface EventRow<Data extends { readonly domain: Domain }> {
  readonly id: number
  readonly number: number
  /** Of the body after the callback id, with which every message begins. */
  readonly decode: (r: Reader) => Data
}
