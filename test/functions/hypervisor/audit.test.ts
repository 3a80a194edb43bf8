import t from 'tap'
import { tainted } from '../../../functions/hypervisor/audit.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { hypervisor } from './fixtures.ts'

const writtenBy = (manager: string, fields: object, subresource?: string) => {
  const given = hypervisor()
  const entry = { manager, operation: 'Update' as const, fieldsV1: fields, ...(subresource && { subresource }) }
  return { ...given, metadata: { ...given.metadata, managedFields: [...(given.metadata.managedFields ?? []), entry] } }
}

const cases: Array<[name: string, given: Hypervisor, status: string]> = [
  ['nobody but functions', hypervisor(), 'False'],
  ['kubectl edit of the spec', writtenBy('kubectl-edit', { 'f:spec': {} }), 'True'],
  ['kubectl label', writtenBy('kubectl-label', { 'f:metadata': {} }), 'False'],
  ['kubectl on the status', writtenBy('kubectl', { 'f:spec': {} }, 'status'), 'False'],
  ['another operator', writtenBy('manager', { 'f:spec': {} }), 'False']
]
for (const [name, given, status] of cases) void t.test(name, async t => t.match(tainted(given), { type: 'Tainted', status }))
