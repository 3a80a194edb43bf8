import type { Test } from 'tap'
import { type Client, type OpenOptions, column, open } from 'ovsdb-client'
import { prepare } from '../servers/ovs.ts'

/** Fails the file with the reason where a real server cannot be had. */
export async function ovsNeeded(): Promise<void> {
  const prepared = await prepare()
  if (!prepared.ok) throw new Error(prepared.reason)
}

export function client(t: Test, remotes: readonly string[], options: Partial<OpenOptions> = {}): Client {
  const db = open({ remotes, database: 'Test', ...options })
  t.teardown(() => db.close())
  return db
}

const { string, boolean, integer, safeInteger, real, uuid, optional, set, map } = column

/** Every column of the table Item in servers/ovs/test.ovsschema. */
export const item = {
  name: string,
  count: safeInteger,
  big: integer,
  ratio: real,
  flag: boolean,
  color: optional(string),
  note: optional(string),
  tags: set(string),
  sizes: set(integer),
  labels: map(string, string),
  counters: map(string, integer),
  pair: map(string, string),
  child: optional(uuid),
  friends: set(uuid)
} as const
