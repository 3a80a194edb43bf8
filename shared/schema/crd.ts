// One value for each kind. The TypeScript type comes from it by `Resource`, the validator by validate.ts, the YAML by to-yaml.ts.
import type { Static, TSchema } from 'typebox'
import type { Kind, ObjectMeta } from './kind.ts'
import type { Rule } from './vocabulary.ts'

export interface Column {
  name: string
  jsonPath: string
  type?: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  priority?: number
}

interface Stored<Spec extends TSchema, Status extends TSchema> {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  spec: Static<Spec>
  status?: Static<Status>
}

export interface Definition<Spec extends TSchema = TSchema, Status extends TSchema = TSchema> {
  group: string
  version: string
  kind: string
  plural: string
  shortNames: string[]
  scope: 'Cluster' | 'Namespaced'
  description: string
  columns: Column[]
  spec: Spec
  status: Status
  /** False where the CRD in use takes an object without a spec, which therefore stays acceptable (HV-2). */
  specRequired?: boolean
  /** Rules that need to see more than the spec or the status. */
  rules?: Rule[]
}

export interface Crd<Spec extends TSchema = TSchema, Status extends TSchema = TSchema> extends Kind<Stored<Spec, Status>> {
  readonly definition: Definition<Spec, Status>
}

export type Resource<K> = K extends Crd<infer Spec, infer Status> ? Stored<Spec, Status> : never

export function crd<Spec extends TSchema, Status extends TSchema>(definition: Definition<Spec, Status>): Crd<Spec, Status> {
  const { group, version, kind, plural, scope } = definition
  return { group, version, kind, plural, namespaced: scope === 'Namespaced', definition }
}

const condition =
  (field: string) =>
  (name: string, type: string, priority?: number): Column => ({
    name,
    jsonPath: `.status.conditions[?(@.type=="${type}")].${field}`,
    ...(priority && { priority })
  })

export const statusOf = condition('status')
export const reasonOf = condition('reason')
export const messageOf = condition('message')
export const age: Column = { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' }
