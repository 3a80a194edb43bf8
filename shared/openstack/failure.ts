// An outage of OpenStack, or its refusal, as words for a condition. Anything else is a fault of ours and goes on.
import { OpenStackError } from 'openstack-sdk-lite'

export interface Failure {
  code: OpenStackError['code']
  /** For people; without the request id, which would make every repetition look like news. */
  words: string
  retryable: boolean
}

export function failureOf(err: unknown): Failure {
  if (!(err instanceof OpenStackError)) throw err
  const { code, call, status, words, text, retryable } = err
  const said = words ?? (status === undefined ? text : `answered ${status}`)
  return { code, retryable, words: `${call ?? 'OpenStack'}: ${said} (${code})` }
}

export type Result<T> = { ok: true; value: T } | { ok: false; failure: Failure }

/** The value, or why there is none. */
export async function attempt<T>(run: () => Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await run() }
  } catch (err) {
    return { ok: false, failure: failureOf(err) }
  }
}
