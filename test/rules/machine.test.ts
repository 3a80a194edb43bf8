// A1–A19 and W1–W9 (spec/machine.md §9): each row’s own example breaks it; what depends on the cluster, and what is never judged.
import t from 'tap'
import { noFacts, type MachineFacts } from '../../shared/rules/machine-facts.ts'
import { checkMachine, machineRules } from '../../shared/rules/machine.ts'
import { inWords } from '../../shared/rules/rule.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { before, facts, machine, small } from './machine-fixtures.ts'

t.test('every rule of the specification is there once', async t => {
  const wanted = [...Array.from({ length: 16 }, (_, i) => `A${i + 1}`), ...Array.from({ length: 9 }, (_, i) => `W${i + 1}`)]
  t.strictSame(
    machineRules.map(({ id }) => id),
    wanted
  )
})

for (const { id, weight, example, what } of machineRules) {
  t.test(`${id}: ${what}`, async t => {
    const { violations, warnings } = checkMachine(machine(example), before[id], facts)
    const found = [...(weight === 'refused' ? violations : warnings)].filter(finding => finding.id === id)
    t.not(found.length, 0, 'its own example breaks it')
    for (const finding of found) t.match(inWords(finding), /^(spec|metadata)[\w.[\]/-]*: .+ \([AW]\d+\)$/, inWords(finding))
  })
}

t.test('what depends on the cluster', async t => {
  const arm = { ...facts, architecture: 'arm64' as const }
  const ids = (text: string, on: MachineFacts) => checkMachine(machine(text), undefined, on).violations.map(({ id }) => id)
  t.strictSame(ids('spec: {template: small, resources: {cpu: {threads: 2}}}', arm), ['A5'])
  t.strictSame(ids('spec: {template: small, domain: {features: {acpi: false}}}', arm), ['A9'], 'arm64 has no BIOS')
  const old = { ...facts, allowI440fx: true }
  t.strictSame(ids('spec: {template: small, domain: {machine: {type: pc-i440fx}}}', old), ['A10'], 'a version is needed')
  t.strictSame(ids('spec: {template: small, domain: {machine: {type: pc-i440fx-9.0}}}', old), [])
})

t.test('A18: nothing is said of an object on its way out, or of a spec that stays', async t => {
  const broken = machine('spec: {template: huge}')
  const leaving = { ...broken, metadata: { ...broken.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  t.strictSame(checkMachine(leaving, undefined, facts), { violations: [], warnings: [] })
  t.strictSame(checkMachine({ ...broken, metadata: { ...broken.metadata, labels: { a: 'b' } } }, broken, facts), {
    violations: [],
    warnings: []
  })
})

t.test('A19: what cannot be read is said, and refuses nothing', async t => {
  const { violations, warnings } = checkMachine(
    machine('spec: {template: small, networks: [{name: a, networkName: x}]}'),
    undefined,
    noFacts
  )
  t.strictSame(violations, [])
  matchWhole(t, warnings, [{ id: 'W5', message: /was not checked/ }])
})

t.test('garbage is refused by its path and never throws', async t => {
  const garbage: Array<[string, string]> = [
    ['spec: {template: 5}', 'spec.template'],
    ['spec: {template: small, disks: {}}', 'spec.disks'],
    ['spec: {template: small, disks: [5]}', 'spec.disks[0]'],
    ['spec: {template: small, networks: [{name: a, networkName: b, macAddress: 5}]}', 'spec.networks[0].macAddress'],
    ['spec: {template: small, resources: {memory: {size: []}}}', 'spec.resources.memory.size'],
    ['spec: {template: small, cdroms: [{name: a}]}', 'spec.cdroms[0].source'],
    ['spec: []', 'spec']
  ]
  for (const [text, path] of garbage) {
    const { violations } = checkMachine(machine(text), undefined, facts)
    t.ok(
      violations.some(violation => violation.path === path),
      `${text}: ${violations.map(inWords).join('; ')}`
    )
  }
})

t.test('a list that no schema allows is told of, but not by each of its entries', async t => {
  const disks = Array.from({ length: 5000 }, (_, i) => ({ name: `d${i}`, storageClass: `c${i}` }))
  const { violations, warnings } = checkMachine({ ...machine(small), spec: { template: 'small', disks } }, undefined, facts)
  t.ok(violations.some(({ path }) => path === 'spec.disks'))
  t.equal(violations.filter(({ id, path }) => id === 'A4' && path.endsWith('.size')).length, 128, 'none has a size')
  t.equal(warnings.filter(({ id }) => id === 'W5').length, 128, 'no class exists')
})
