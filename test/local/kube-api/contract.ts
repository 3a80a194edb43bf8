// One suite for the embedded API and for the real one: a difference is a fault of the embedded one.
import type { Test } from 'tap'
import { access } from './contract/access.ts'
import { admission } from './contract/admission.ts'
import { applying } from './contract/applying.ts'
import { builtin } from './contract/builtin.ts'
import { deleting } from './contract/deleting.ts'
import { escalation } from './contract/escalation.ts'
import { listing } from './contract/listing.ts'
import { mutation } from './contract/mutation.ts'
import { policies } from './contract/policies.ts'
import { refused } from './contract/refused.ts'
import { connect, installWidgets, type Target } from './contract/target.ts'
import { validation } from './contract/validation.ts'
import { watching } from './contract/watching.ts'
import { writing } from './contract/writing.ts'

export async function contract(t: Test, target: Target): Promise<void> {
  const api = connect(target)
  await installWidgets(api)
  await t.test('validation', t => validation(t, api))
  await t.test('writing', t => writing(t, api))
  await t.test('server-side apply (HV-5)', t => applying(t, api))
  await t.test('lists', t => listing(t, api))
  await t.test('watches', t => watching(t, api))
  await t.test('deletion and garbage collection', t => deleting(t, api))
  await t.test('built-in kinds', t => builtin(t, api))
  await t.test('what is refused of built-in kinds', t => refused(t, api))
  await t.test('authentication and authorization', t => access(t, api))
  await t.test('rights that one does not have', t => escalation(t, api))
  await t.test('validating webhooks', t => admission(t, api))
  await t.test('admission policies', t => policies(t, api))
  await t.test('mutating webhooks', t => mutation(t, api))
}
