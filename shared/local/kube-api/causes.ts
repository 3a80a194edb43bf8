// One function for each kind of field error, as in apimachinery's field package.
import type { Cause } from './status.ts'

const shown = (value: unknown): string => JSON.stringify(value) ?? 'null'

export const required = (field: string, why = ''): Cause => ({
  reason: 'FieldValueRequired',
  message: why ? `Required value: ${why}` : 'Required value',
  field
})
export const invalidValue = (field: string, value: unknown, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${shown(value)}: ${why}`,
  field
})
/** CEL violations of objects and lists do not repeat the value. */
export const invalidRule = (field: string, value: unknown, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: typeof value === 'object' ? `Invalid value: ${why}` : `Invalid value: ${shown(value)}: ${why}`,
  field
})
export const wrongType = (field: string, found: string, why: string): Cause => ({
  reason: 'FieldValueTypeInvalid',
  message: `Invalid value: "${found}": ${why}`,
  field
})
export const unsupported = (field: string, value: unknown, supported: unknown[]): Cause => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(shown).join(', ')}`,
  field
})
export const duplicate = (field: string, value: unknown): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${shown(value)}`,
  field
})
export const tooLong = (field: string, most: number): Cause => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${most} bytes`,
  field
})
export const tooMany = (field: string, found: number, most: number): Cause => ({
  reason: 'FieldValueTooMany',
  message: `Too many: ${found}: must have at most ${most} items`,
  field
})
export const forbiddenField = (field: string, why: string): Cause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
  field
})
