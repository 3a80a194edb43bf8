// The smoke test of a new host (HV-36, HV-39): a server on exactly this host that comes up and shows its name. Pure.
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Options, Seen, TestServer } from './decide.ts'
import { hasLeft, nextLeg } from './legs.ts'

export type Test = NonNullable<NonNullable<NonNullable<Hypervisor['status']>['onboarding']>['tests']>[number]

export type TestStep =
  | { do: 'create'; name: string }
  | { do: 'watch'; name: string; waitingFor: string }
  | { do: 'move'; name: string; leg: 'out' | 'in'; server: string; target: string | undefined }
  | { do: 'fail'; name: string; why: string; server: string | undefined }
  | { do: 'pass'; name: string; server: string }
  | { do: 'pause'; waitingFor: string }

export type Verdict = 'Passed' | 'Exhausted'

/** The entry of `tests` that holds what may be different at another try (HV-39). */
export const budgetEntry = 'budget'
export const consoleLines = 11
/** Of what it told of the network more may have come since. */
export const networkLines = 200

/** Unique to this object and this attempt: a create whose answer was lost is found again, and no other server is ever meant. */
const testStem = ({ metadata }: Hypervisor, prefix: string): string =>
  `${prefix}${metadata.name}-${(metadata.uid ?? '').slice(0, 8)}-`

export const testName = (hypervisor: Hypervisor, prefix: string, attempt: number): string =>
  `${testStem(hypervisor, prefix)}${attempt}`

export const isTestOf = (hypervisor: Hypervisor, prefix: string, name: string): boolean =>
  name.startsWith(testStem(hypervisor, prefix))

/** One entry for each server; those with a space in their name tell of a check, or of a part of a test (HV-43). */
export const ofServers = (noted: readonly Test[] = []): Test[] =>
  noted.filter(({ name }) => name !== budgetEntry && !name.includes(' '))

export const testsOf = ({ status }: Hypervisor): Test[] => ofServers(status?.onboarding?.tests)

export const failuresOf = (tests: readonly Test[]): number => tests.filter(({ result }) => result === 'Failed').length

/** The names under which a server of the tests may exist: the last one's, and the next one's if its order was given and never written down. */
export function namesToFind(hypervisor: Hypervisor, prefix: string): string[] {
  const tests = testsOf(hypervisor)
  const last = tests.at(-1)
  return [...(last ? [last.name] : []), testName(hypervisor, prefix, tests.length + 1)]
}

/** How the tests ended, or the next step of them. */
export function nextTest({ hypervisor, servers }: Seen, host: string, options: Options, now: Date): Verdict | TestStep {
  const tests = testsOf(hypervisor)
  const last = tests.at(-1)
  if (last?.result === 'Passed') return 'Passed'
  const scene = { servers, noted: hypervisor.status?.onboarding?.tests ?? [], host }
  if (last && last.result === undefined) return judge(last, scene, options, now)
  const failures = failuresOf(tests)
  if (failures >= options.maxAttempts) return 'Exhausted'
  const name = testName(hypervisor, options.prefix, tests.length + 1)
  const unrecorded = servers.find(server => server.name === name)
  if (unrecorded) return judge({ name, ...(unrecorded.created && { startedAt: unrecorded.created }) }, scene, options, now)
  const dueMs = last?.finishedAt ? Date.parse(last.finishedAt) + options.firstWaitMs * 2 ** (failures - 1) : 0
  if (now.getTime() < dueMs) return { do: 'pause', waitingFor: `the next attempt at ${new Date(dueMs).toISOString()}` }
  return { do: 'create', name }
}

interface Scene {
  servers: readonly TestServer[]
  noted: readonly Test[]
  host: string
}

function judge({ name, startedAt }: Test, { servers, noted, host }: Scene, options: Options, now: Date): TestStep {
  const { testTimeoutMs, liveMigration } = options
  const server = servers.find(server => server.name === name)
  const isLate = startedAt !== undefined && now.getTime() - Date.parse(startedAt) > testTimeoutMs
  const fail = (why: string): TestStep => ({ do: 'fail', name, why, server: server?.id })
  if (server?.status === 'ERROR') return fail(server.fault ?? 'the server went into ERROR')
  if (server && hasLeft(noted, name)) return nextLeg(server, noted, host, testTimeoutMs, now)
  if (server?.status === 'ACTIVE' && server.hasShown && server.hasReached)
    return liveMigration ? nextLeg(server, noted, host, testTimeoutMs, now) : { do: 'pass', name, server: server.id }
  const lacking = server?.problem ?? (server?.hasShown ? 'the network was not reached' : 'not on its console')
  if (isLate) return fail(`${lacking} within ${testTimeoutMs / 1000} s, but ${server?.status ?? 'absent'}`)
  if (!server) return { do: 'create', name } // the order was lost, or somebody deleted it
  const awaited = server.hasShown
    ? `${name} to reach the network`
    : `${name} on its console${server.problem ? `: ${server.problem}` : ''}`
  const waitingFor = server.status === 'ACTIVE' ? awaited : `${name}, which is ${server.status}`
  return { do: 'watch', name, waitingFor }
}
