// What every part of the contract works with, and a short way to say which refusal is expected.
import type { Test } from 'tap'
import { type Cloud, type ErrorCode, OpenStackError } from 'openstack-sdk-lite'
import type { Raw } from '../../servers/openstack/raw.ts'
import type { Target } from './target.ts'

export interface Scene {
  cloud: Cloud
  target: Target
  raw: Raw
}

export type Part = (t: Test, scene: Scene) => Promise<void>

export const nowhere = '00000000-0000-4000-8000-000000000000'

/** The call is refused with this status, in the service's own words, and the error can be traced in its logs. */
export async function refused(
  t: Test,
  what: string,
  call: Promise<unknown>,
  status: number,
  code: ErrorCode,
  words: RegExp
): Promise<OpenStackError> {
  const err = await call.then(
    () => new Error('it was not refused'),
    (err: unknown) => err
  )
  if (!(err instanceof OpenStackError)) throw err
  t.match(
    { status: err.status, code: err.code, words: err.words, requestId: err.requestId },
    { status, code, words, requestId: /^req-/ },
    what
  )
  return err
}
