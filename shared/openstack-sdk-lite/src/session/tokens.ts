// One token for all callers. It is renewed before it ends, and once when a service no longer takes it; whoever comes
// meanwhile waits for the same renewal.
import type { Endpoint } from './catalog.ts'
import type { Clock } from './clock.ts'

export interface Grant {
  token: string
  endsAtMs: number
  catalog: Endpoint[]
}

export interface Tokens {
  current(): Grant | Promise<Grant>
  /** The service refused this one: a newer one, which may already be there. */
  after(refused: Grant): Grant | Promise<Grant>
}

const earlyMs = 300_000

export function shareTokens(fetch: () => Promise<Grant>, clock: Pick<Clock, 'now'>, onReplaced: (old: Grant) => void): Tokens {
  let grant: Grant | undefined
  let renewAtMs = 0
  let renewal: Promise<Grant> | undefined

  function renew(): Promise<Grant> {
    renewal ??= fetch()
      .then(fresh => {
        if (grant) onReplaced(grant)
        grant = fresh
        // a token that lives for minutes only is used for most of its life, not renewed at every call
        renewAtMs = fresh.endsAtMs - Math.min(earlyMs, (fresh.endsAtMs - clock.now()) / 5)
        return fresh
      })
      .finally(() => (renewal = undefined))
    return renewal
  }

  return {
    current: () => (grant && clock.now() < renewAtMs ? grant : renew()),
    after: refused => (grant && grant !== refused ? grant : renew())
  }
}
