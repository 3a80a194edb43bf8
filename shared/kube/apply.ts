import type { Kind, KubeObject } from '../schema/kind.ts'
import { apiVersion } from '../schema/kind.ts'
import { timestamp } from './conditions.ts'
import { KubeError, isOwnershipConflict } from './errors.ts'
import { find } from './read.ts'
import { objectPath } from './path.ts'
import { writes } from './retry.ts'
import { takeOver } from './take-over.ts'
import type { Transport } from './transport.ts'
import { unchanged } from './unchanged.ts'
import { patch } from './write.ts'

/** The fields that a manager wants, and no others: all are optional, items of lists are whole. */
export type Applied<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Applied<T[K]> } : T

export interface ApplyOptions<T> {
  /**
   * The object as it was read. With it nothing is sent when nothing would change (HV-7), ownership of earlier non-apply writers is taken over
   * (HV-5), and an object that was deleted meanwhile is not brought back: NotFound.
   */
  live?: T
  /** Take fields from other managers. Without it: Conflict, and the message names them. */
  force?: boolean
  dryRun?: boolean
}

const races = 5 // writes by others that one apply stands before it gives up

export async function apply<T extends KubeObject>(
  transport: Transport,
  manager: string,
  kind: Kind<T>,
  object: KubeObject,
  { live: given, force = true, dryRun = false }: ApplyOptions<T>,
  subresource?: 'status'
): Promise<T> {
  const wanted = { ...object, apiVersion: apiVersion(kind), kind: kind.kind }
  const ref = { name: object.metadata?.name ?? '', namespace: object.metadata?.namespace }
  const query = { fieldManager: manager, force, dryRun: dryRun ? 'All' : undefined }
  const path = objectPath(kind, ref, subresource, query)
  const holdsVersion = wanted.metadata?.resourceVersion !== undefined
  const mayTakeOver = force && !dryRun && !holdsVersion // it makes a new version itself

  let live = given
  for (let race = 1; ; race++) {
    if (live && unchanged(live, wanted, manager, subresource)) return live
    try {
      if (live && mayTakeOver) await takeOverOnServer(transport, manager, kind, live, wanted, subresource)
      const body = live ? { ...wanted, metadata: { ...wanted.metadata, uid: live.metadata?.uid } } : wanted
      const message = { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml' } as const
      return await transport.json<T>({ verb: 'apply', kind: kind.kind, ...message }, writes)
    } catch (error) {
      if (!isRace(error) || race === races || holdsVersion) throw error
    }
    live &&= await findSame(transport, kind, live)
  }
}

async function takeOverOnServer<T extends KubeObject>(
  transport: Transport,
  manager: string,
  kind: Kind<T>,
  live: T,
  wanted: KubeObject,
  subresource?: string
): Promise<void> {
  const managedFields = takeOver(live, wanted, manager, subresource, timestamp(new Date()))
  if (!managedFields) return
  const { name = '', namespace, resourceVersion } = live.metadata ?? {}
  const operations = [
    { op: 'replace', path: '/metadata/managedFields', value: managedFields },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion } // another version: Conflict
  ] as const
  try {
    // through a subresource the server ignores it
    await patch(transport, manager, kind, { name, namespace }, [...operations])
  } catch (err) {
    if (subresource === undefined || !(err instanceof KubeError) || err.code !== 'Forbidden') throw err
    // who may write the status alone still writes it; a field that it leaves out later will stay
    transport.log?.warn({ err, kind: kind.kind, name }, 'ownership not taken over')
  }
}

/** Somebody wrote, deleted or replaced the object at the same time; nobody owns what we want. */
const isRace = (error: unknown): boolean =>
  error instanceof KubeError &&
  (error.code === 'AlreadyExists' ||
    (error.code === 'Conflict' && !isOwnershipConflict(error)) ||
    (error.code === 'Invalid' && (error.details?.causes?.some(({ field }) => field === 'metadata.uid') ?? false)))

async function findSame<T extends KubeObject>(transport: Transport, kind: Kind<T>, { metadata }: T): Promise<T> {
  const { name = '', namespace, uid } = metadata ?? {}
  const now = await find(transport, kind, name, namespace)
  if (now?.metadata?.uid === uid && now) return now
  throw new KubeError('NotFound', `the ${kind.kind} ${name} was deleted meanwhile`)
}
