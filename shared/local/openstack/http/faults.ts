// What goes wrong on purpose.
import type { Reply, Service } from './request.ts'

export type Effect =
  | { answer: Reply }
  /** the connection breaks before the request is looked at */
  | { lose: 'request' }
  /** the request is carried out, then the connection breaks */
  | { lose: 'answer' }
  | { delayMs: number }
  /** no answer, ever */
  | { hang: true }

export interface Fault {
  service?: Service
  method?: string
  path?: RegExp
  /** how often; without it until the fault is lifted */
  times?: number
  effect: Effect
}

export interface Faults {
  /** Returns a function that lifts it. */
  add(fault: Fault): () => void
  next(service: Service, method: string, path: string): Effect | undefined
  clear(): void
}

export function createFaults(): Faults {
  const active = new Map<Fault, number>()
  return {
    add(fault) {
      active.set(fault, fault.times ?? Infinity)
      return () => active.delete(fault)
    },
    next(service, method, path) {
      for (const [fault, left] of active) {
        const fits =
          (fault.service ?? service) === service && (fault.method ?? method) === method && (fault.path?.test(path) ?? true)
        if (!fits) continue
        if (left <= 1) active.delete(fault)
        else active.set(fault, left - 1)
        return fault.effect
      }
      return undefined
    },
    clear: () => active.clear()
  }
}
