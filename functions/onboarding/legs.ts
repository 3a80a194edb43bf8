// HV-43: the test server leaves the host by live migration and comes back: the host can give servers away and take them. Pure.
import { timestamp } from '../../shared/kube/conditions.ts'
import type { TestServer } from './decide.ts'
import type { Test, TestStep } from './smoke-test.ts'

const outOf = (name: string): string => `${name} out`
const into = (name: string): string => `${name} in`

/** For so long a move that was asked for may show nowhere. */
const unseenMs = 30_000

export const hasLeft = (tests: readonly Test[], name: string): boolean => tests.some(test => test.name === outOf(name))

export function nextLeg(
  server: TestServer,
  tests: readonly Test[],
  here: string,
  timeoutMs: number,
  now: Date
): Exclude<TestStep, { do: 'create' | 'pause' }> {
  const { name, id } = server
  const back = tests.find(test => test.name === into(name))
  const leg = back ?? tests.find(test => test.name === outOf(name))
  if (!leg) return { do: 'move', name, leg: 'out', server: id, target: undefined }
  const way = back ? 'back' : 'away'
  const passedMs = now.getTime() - Date.parse(leg.startedAt ?? timestamp(now))
  const fail = (why: string): ReturnType<typeof nextLeg> => ({ do: 'fail', name, why, server: id })
  if (passedMs > timeoutMs) return fail(`its live migration ${way} did not end within ${timeoutMs / 1000} s`)
  const isAtRest = server.status === 'ACTIVE' && server.taskState === null && server.host !== null
  if (isAtRest && (server.host === here) === (back !== undefined))
    return back ? { do: 'pass', name, server: id } : { do: 'move', name, leg: 'in', server: id, target: here }
  if (isAtRest && passedMs > unseenMs) return fail(`its live migration ${way} ended on ${server.host}`)
  return { do: 'watch', name, waitingFor: `${name} to move ${way}` }
}

/** The noted entries after a step: one for each leg, with how it went. */
export function withLegs(noted: readonly Test[], test: TestStep, now: Date): Test[] {
  if (test.do === 'move') {
    const begun = { name: test.leg === 'out' ? outOf(test.name) : into(test.name), startedAt: timestamp(now) }
    const rest = noted.filter(({ name }) => name !== begun.name)
    return [...(test.leg === 'in' ? ended(rest, outOf(test.name), 'Passed', now) : rest), begun]
  }
  if (test.do === 'pass') return ended(noted, into(test.name), 'Passed', now)
  if (test.do !== 'fail') return [...noted]
  return ended(ended(noted, into(test.name), 'Failed', now), outOf(test.name), 'Failed', now)
}

const ended = (noted: readonly Test[], name: string, result: string, now: Date): Test[] =>
  noted.map(test => (test.name === name && test.result === undefined ? { ...test, result, finishedAt: timestamp(now) } : test))
