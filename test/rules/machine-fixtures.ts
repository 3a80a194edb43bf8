// A Machine from a line of YAML, the cluster around it, and how a row of the table is proven.
import type { Test } from 'tap'
import { parse } from 'yaml'
import { noFacts, type MachineFacts } from '../../shared/rules/machine-facts.ts'
import { checkMachine } from '../../shared/rules/machine.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'

export const machine = (text: string, more: Partial<Machine> = {}): Machine => {
  const given = parse(text) as Partial<Machine>
  return { spec: {}, ...more, ...given, metadata: { name: 'm', namespace: 'default', ...more.metadata, ...given.metadata } }
}
const network = (name: string, spec: NetworkConfiguration['spec'], status = {}): NetworkConfiguration => ({
  metadata: { name },
  spec,
  status
})
const networks: Record<string, NetworkConfiguration> = {
  pods: network('pods', { podNetwork: true }),
  prod: network('prod', { bridge: 'br0' }, { machines: [{ name: 'other', nic: 'eth0', macAddress: '52:54:00:00:00:01' }] })
}
export const facts: MachineFacts = {
  ...noFacts,
  network: name => ({ known: true, value: networks[name] }),
  storageClass: name => ({ known: true, value: name === 'fast' ? true : undefined }),
  secret: name => ({ known: true, value: name === 'init' ? true : undefined }),
  mayCloneFrom: new Set(['allowed'])
}
export const running = { status: { phase: 'Running' as const, firstRunningAt: '2026-01-01T00:00:00Z' } }
export const small = 'spec: {template: small}'

/** What the example is an update of, for the rules about updates. */
export const before: Record<string, Machine> = {
  A15: machine('spec: {template: medium}'),
  A16: machine('spec: {template: small, disks: [{name: data, size: 1Gi}]}'),
  W4: machine(small, running),
  W7: machine(small, running)
}

/** The rule, where, in which words, what it refuses or warns about, what is accepted, and the former state of an update. */
export type Row = [id: string, path: string, message: string, bad: string, good: string, old?: Machine | undefined]

export function proves(t: Test, rows: readonly Row[]): void {
  for (const [id, path, message, bad, good, old] of rows) {
    void t.test(`${id} at ${path}`, async t => {
      const kind = id.startsWith('A') ? 'violations' : 'warnings'
      t.strictSame(
        checkMachine(machine(bad), old, facts)[kind].filter(finding => finding.id === id),
        [{ id, path, message }]
      )
      const after = checkMachine(machine(good), old, facts)
      t.strictSame(after.violations, [])
      t.notOk(after.warnings.some(finding => finding.id === id))
    })
  }
}
