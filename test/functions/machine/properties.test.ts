// X7: what holds for every Machine that the rules accept, and that what is broken is told by its path.
import * as fc from 'fast-check'
import t from 'tap'
import { render } from '../../../functions/machine/render.ts'
import { checkMachine } from '../../../shared/rules/machine.ts'
import { noFacts, type MachineFacts } from '../../../shared/rules/machine-facts.ts'
import { validate } from '../../../shared/schema/validate.ts'
import { Machine } from '../../../shared/schema/machine.ts'
import { arbitraryNetworks, brokenSpec, validSpec } from './arbitrary.ts'
import { machine, options } from './fixtures.ts'
import { semanticFaults } from './semantics.ts'

const networkOf = (name: string) => arbitraryNetworks[name]
const facts: MachineFacts = { ...noFacts, network: name => ({ known: true, value: networkOf(name) }) }

t.test('2,000 valid Machines render, twice alike, and break no rule of KubeVirt (K1–K12)', async t => {
  const seen = { disks: 0, networks: 0, boot: 0 }
  fc.assert(
    fc.property(validSpec, spec => {
      const given = machine(spec)
      const { violations } = checkMachine(given, undefined, facts)
      if (violations.length > 0) throw new Error(JSON.stringify(violations))
      const rendered = render(given, networkOf, undefined, options)
      if (JSON.stringify(rendered) !== JSON.stringify(render(JSON.parse(JSON.stringify(given)), networkOf, undefined, options)))
        throw new Error('not the same twice')
      const faults = semanticFaults(rendered.vm)
      if (faults.length > 0) throw new Error(faults.join('; '))
      seen.disks = Math.max(seen.disks, rendered.vm.spec.template.spec.volumes?.length ?? 0)
      seen.networks = Math.max(seen.networks, rendered.vm.spec.template.spec.networks?.length ?? 0)
      seen.boot += spec.bootOrder ? 1 : 0
    }),
    { numRuns: 2000 }
  )
  t.ok(seen.disks > 5 && seen.networks > 2 && seen.boot > 100, `the Machines differ: ${JSON.stringify(seen)}`)
})

t.test('500 broken ones are refused, each by the path of what is broken', async t => {
  fc.assert(
    fc.property(brokenSpec, ({ spec, path }) => {
      const found = checkMachine(machine(spec), undefined, facts).violations.map(violation => violation.path)
      if (!found.includes(path)) throw new Error(`${path} is not in ${found.join(', ')}`)
    }),
    { numRuns: 500 }
  )
  t.pass()
})

t.test('A20: whatever the CEL of the schema refuses, the rules refuse at the same place', async t => {
  fc.assert(
    fc.property(brokenSpec, ({ spec }) => {
      const given = machine(spec)
      const ours = new Set(checkMachine(given, undefined, facts).violations.map(({ path }) => path))
      const schema = validate(Machine, given)
      // the schema tells a rule about several fields at their parent
      const missed = schema.filter(({ path }) => ![...ours].some(own => own.startsWith(path)))
      if (missed.length > 0) throw new Error(`${JSON.stringify(missed)} against ${[...ours].join(', ')}`)
    }),
    { numRuns: 200 }
  )
  t.pass()
})
