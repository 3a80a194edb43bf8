export interface Violation {
  /** Such as `spec.disks[0].name`; empty for the object itself. */
  path: string
  message: string
  /** Of a CEL rule that gives one, such as FieldValueForbidden. */
  reason?: string
}

export const at = (path: string, step: string | number): string =>
  typeof step === 'number' ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`
