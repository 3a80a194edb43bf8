// Begins a monitor in the best way the server knows: monitor_cond_since (OVS 2.12), monitor_cond (OVS 2.6), monitor (RFC 7047 §4.1.5).
import type { Connection } from './connection.ts'
import { type Delta, readDeltas } from './delta.ts'
import { OvsdbError } from './error.ts'
import { isUuid, zeroUuid } from './notation.ts'
import { type Where, encodeClauses } from './operation.ts'
import type { Plan } from './schema.ts'

export type Subscription = {
  readonly database: string
  readonly id: string
  readonly plan: Plan
  readonly where: { readonly [table: string]: Where | undefined }
  /** The last transaction already known, to be resumed from. */
  readonly since: string | undefined
  readonly timeoutMs: number
}
export type Snapshot = {
  readonly method: Method
  /** False: only what happened since the transaction asked for. */
  readonly complete: boolean
  readonly deltas: readonly Delta[]
  readonly txn: string | undefined
}
export type Method = 'monitor_cond_since' | 'monitor_cond' | 'monitor'

/** `install` runs before any update of the new monitor is read. */
export async function subscribe(
  connection: Connection,
  wanted: Subscription,
  install: (snapshot: Snapshot) => void
): Promise<void> {
  for (const method of ['monitor_cond_since', 'monitor_cond'] as const) {
    try {
      return await connection.call(method, request(method, wanted), result => install(readSnapshot(method, result)), wanted)
    } catch (error) {
      if (!(error instanceof OvsdbError && error.code === 'unknown-method')) throw error
    }
  }
  if (Object.values(wanted.where).some(where => where?.length)) {
    throw new OvsdbError('not-supported', 'this server cannot monitor with conditions', { serverError: 'unknown method' })
  }
  return connection.call('monitor', request('monitor', wanted), result => install(readSnapshot('monitor', result)), wanted)
}

function request(method: Method, { database, id, plan, where, since = zeroUuid }: Subscription): unknown[] {
  const tables = Array.from(plan, ([table, columns]) => {
    const condition = where[table]
    return [table, [{ columns: columns.map(({ name }) => name), ...(condition && { where: encodeClauses(condition) }) }]]
  })
  const params = [database, id, Object.fromEntries(tables)]
  return method === 'monitor_cond_since' ? [...params, since] : params
}

function readSnapshot(method: Method, result: unknown): Snapshot {
  if (method !== 'monitor_cond_since') {
    return { method, complete: true, deltas: readDeltas(method === 'monitor' ? 'update' : 'update2', result), txn: undefined }
  }
  if (!Array.isArray(result) || typeof result[0] !== 'boolean') throw new OvsdbError('protocol', `malformed reply to ${method}`)
  return { method, complete: !result[0], txn: readTxn(result[1]), deltas: readDeltas('update2', result[2]) }
}

/** A stand-alone database has no history: its transaction id is all zeros. */
const readTxn = (wire: unknown) => (isUuid(wire) && wire !== zeroUuid ? wire : undefined)

export type Update = { readonly id: unknown; readonly deltas: readonly Delta[]; readonly txn: string | undefined }

/** The notification as an update of a monitor, or undefined if it is none. */
export function readUpdate(method: string, params: readonly unknown[]): Update | undefined {
  switch (method) {
    case 'update':
    case 'update2':
      return { id: params[0], txn: undefined, deltas: readDeltas(method, params[1]) }
    case 'update3':
      return { id: params[0], txn: readTxn(params[1]), deltas: readDeltas('update2', params[2]) }
    default:
      return undefined
  }
}
