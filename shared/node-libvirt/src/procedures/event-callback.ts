import { type Domain, writeDomain } from '../domain.ts'
import { nothing, type Procedure } from './procedure.ts'

// 316 CONNECT_DOMAIN_EVENT_CALLBACK_REGISTER_ANY: int event id, domain? (null: every domain) -> int callback id
export const eventCallbackRegister: Procedure<{ eventId: number; domain?: Domain | undefined }, number> = {
  number: 316,
  encode: (w, { eventId, domain }) => void w.int(eventId).optional(domain, d => writeDomain(w, d)),
  decode: r => r.int()
}

// 317 CONNECT_DOMAIN_EVENT_CALLBACK_DEREGISTER_ANY: int callback id
export const eventCallbackDeregister: Procedure<{ callbackId: number }, void> = {
  number: 317,
  encode: (w, { callbackId }) => void w.int(callbackId),
  decode: nothing
}
