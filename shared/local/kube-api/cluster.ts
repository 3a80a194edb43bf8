// What every part of the server works on.
import type { KubeObject } from './object.ts'
import type { Registry, Resource } from './resource.ts'
import type { Store } from './store.ts'

export interface User {
  username: string
  uid?: string
  groups: string[]
  extra?: Record<string, string[]>
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/** Asks the validating webhooks; throws what they refuse with. */
export type Admit = (
  call: Call,
  operation: Operation,
  object: KubeObject | undefined,
  old: KubeObject | undefined
) => Promise<void>

/** Asks the mutating webhooks what the object is to be. */
export type Mutate = (call: Call, operation: Operation, object: KubeObject, old: KubeObject | undefined) => Promise<KubeObject>

export interface Cluster {
  store: Store
  registry: Registry
  clock: () => Date
  mutate: Mutate
  admit: Admit
}

/** One request that is about objects, after its address and query were understood. */
export interface Call {
  resource: Resource
  namespace: string
  name: string
  subresource: string
  user: User
  options: WriteOptions
  /** Sent back as `Warning: 299` headers. */
  warnings: string[]
}

export interface WriteOptions {
  dryRun: boolean
  fieldManager: string
  force: boolean
  fieldValidation: 'Strict' | 'Warn' | 'Ignore'
}
