import type { Kind, KubeObject } from '../schema/kind.ts'
import { apiVersion } from '../schema/kind.ts'
import type { Reference } from './path.ts'
import { collectionPath, objectPath } from './path.ts'
import { isMissingObject } from './read.ts'
import { writes } from './retry.ts'
import type { Transport } from './transport.ts'

/** RFC 6902. */
export type JsonPatchOp =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; path: string; from: string }

export interface Precondition {
  uid?: string | undefined
  resourceVersion?: string | undefined
}

export interface DeleteOptions {
  propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined
}

export function create<T extends KubeObject>(
  transport: Transport,
  manager: string,
  kind: Kind<T>,
  object: KubeObject
): Promise<T> {
  const path = collectionPath(kind, object.metadata?.namespace, { fieldManager: manager })
  const body = { ...object, apiVersion: apiVersion(kind), kind: kind.kind }
  return transport.json<T>({ verb: 'create', kind: kind.kind, method: 'POST', path, body }, writes)
}

/** An object is a merge patch (RFC 7386), an array of operations a JSON patch. */
export function patch<T extends KubeObject>(
  transport: Transport,
  manager: string,
  kind: Kind<T>,
  ref: Reference,
  body: object | JsonPatchOp[],
  subresource?: string
): Promise<T> {
  const path = objectPath(kind, ref, subresource, { fieldManager: manager })
  const contentType = Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json'
  return transport.json<T>({ verb: 'patch', kind: kind.kind, method: 'PATCH', path, body, contentType }, writes)
}

/** False when it was not there. A precondition that does not hold is a Conflict. */
export async function remove(
  transport: Transport,
  kind: Kind,
  { uid, resourceVersion, ...ref }: Reference & Precondition,
  { propagation }: DeleteOptions = {}
): Promise<boolean> {
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid, resourceVersion },
    propagationPolicy: propagation
  }
  try {
    await transport.json({ verb: 'delete', kind: kind.kind, method: 'DELETE', path: objectPath(kind, ref), body }, writes)
    return true
  } catch (error) {
    if (isMissingObject(error)) return false
    throw error
  }
}
