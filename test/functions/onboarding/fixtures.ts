// What onboarding sees of a host, in its Hypervisor and in Nova.
import type { NovaHost, Options, Seen, TestServer } from '../../../functions/onboarding/decide.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, type Status } from '../host-life/fixtures.ts'

export const options: Options = {
  nameForms: ['{name}.example.com'],
  testAggregate: 'tests',
  prefix: 'ohooc-',
  maxAttempts: 5,
  testTimeoutMs: 300_000,
  firstWaitMs: 60_000,
  liveMigration: false,
  takeover: false,
  haMode: 'off'
}
export const all = { ...options, extended: true, haSkipped: true }
export const nova = (given: Partial<NovaHost> = {}): NovaHost => ({
  id: 'hv-id',
  hostname: 'host-1',
  state: 'up',
  status: 'enabled',
  ...given,
  service: { id: 'service-id', host: 'host-1', disabledReason: null, ...given.service }
})
export const seen = (given: Hypervisor, more: Partial<Seen> = {}): Seen => ({
  hypervisor: given,
  hosts: [nova()],
  forcedDown: false,
  servers: [],
  checks: [],
  ...more
})
export const at = (
  reason: string,
  status: Partial<Status> = {},
  spec: Partial<Hypervisor['spec']> = {},
  more: ReturnType<typeof condition>[] = []
) => hypervisor(spec, { conditions: [condition('Onboarding', 'True', reason, { observedGeneration: 3 }), ...more], ...status })
export const server = (given: Partial<TestServer> = {}): TestServer => ({
  id: 'id-1',
  name: 'ohooc-host-1-12345678-1',
  status: 'BUILD',
  fault: undefined,
  created: null,
  hasShown: false,
  hasReached: true,
  problem: undefined,
  host: null,
  taskState: null,
  ...given
})
