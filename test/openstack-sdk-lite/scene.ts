// A client on the behaving OpenStack, with time that stands still.
import type { Test } from 'tap'
import { type CallReport, type Cloud, type Clock, connect, type ConnectOptions, OpenStackError } from 'openstack-sdk-lite'
import type { FakeOpenStack, FakeOptions } from '../../shared/local/openstack/index.ts'
import { fakeOpenStack, passwordOf } from './fake.ts'

export interface Scene {
  fake: FakeOpenStack
  cloud: Cloud
  reports: CallReport[]
  /** how long each wait would have been */
  waits: number[]
  clock: Clock & { shift(ms: number): void }
}

// time that stands still unless it is moved, and waits that are noted and not waited
function standingClock(waits: number[]): Scene['clock'] {
  let nowMs = Date.now()
  return {
    now: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      waits.push(ms)
      nowMs += ms
    },
    random: () => 0,
    shift(ms) {
      nowMs += ms
    }
  }
}

export async function open(t: Test, options: Partial<ConnectOptions> = {}, fakeOptions: FakeOptions = {}): Promise<Scene> {
  const fake = await fakeOpenStack(t, { hosts: ['hv1', 'hv2'], ...fakeOptions })
  const reports: CallReport[] = []
  const waits: number[] = []
  const clock = standingClock(waits)
  const cloud = await connect({ ...passwordOf(fake), clock, onCall: report => reports.push(report), ...options })
  t.teardown(() => cloud.close())
  return { fake, cloud, reports, waits, clock }
}

export const failure = (call: Promise<unknown>): Promise<OpenStackError> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (err: unknown) => (err instanceof OpenStackError ? err : Promise.reject(err as Error))
  )
export const asked = ({ fake }: Scene, path: string): number => fake.requests.filter(request => request.path === path).length
