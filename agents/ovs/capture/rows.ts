// The only writes to the switch's database there are (OV-17): the row of a capture, linked to its bridge, and its removal.
import { type Client, OvsdbError, column, insert, mutate, named, select, update, uuid, wait } from 'ovsdb-client'

/** Rows of captures carry it (OV-63). Never `ovn-owned`: ovn-controller would take the row for its own and remove it (OV-62). */
export const captureMark = 'drover-capture'

export interface HeadersWish {
  readonly bridge: string
  readonly port: number
  readonly headerBytes: number
  readonly sampling: number
}

export interface MirrorWish {
  readonly bridge: string
  /** Of the port that is watched, and the one that gets the copies. */
  readonly portId: string
  readonly outputId: string
  readonly snapBytes: number
}

/** False when the bridge has an sFlow already: somebody else's, or another capture's (OV-60, OV-63). */
export async function startHeaders(
  db: Client,
  id: string,
  { bridge, port, headerBytes, sampling }: HeadersWish
): Promise<boolean> {
  const row = {
    targets: [`127.0.0.1:${port}`],
    agent: '127.0.0.1',
    header: headerBytes,
    sampling,
    polling: 0,
    external_ids: { [captureMark]: id }
  }
  const where = [['name', '==', bridge]] as const
  try {
    const [, , { count }] = await db.transact([
      wait({ table: 'Bridge', where, columns: ['sflow'], until: '==', rows: [{ sflow: [] }], timeoutMs: 0 }),
      insert('sFlow', row, { named: 'capture' }),
      update('Bridge', where, { sflow: named('capture') })
    ])
    return count === 1
  } catch (error) {
    if (error instanceof OvsdbError && error.code === 'wait-timed-out') return false
    throw error
  }
}

export async function startMirror(db: Client, id: string, { bridge, portId, outputId, snapBytes }: MirrorWish): Promise<void> {
  const row = {
    name: `${captureMark}-${id}`,
    select_src_port: [uuid(portId)],
    select_dst_port: [uuid(portId)],
    output_port: uuid(outputId),
    ...(snapBytes > 0 && { snaplen: snapBytes }),
    external_ids: { [captureMark]: id }
  }
  await db.transact([
    insert('Mirror', row, { named: 'capture' }),
    mutate('Bridge', [['name', '==', bridge]], [['mirrors', 'insert', [named('capture')]]])
  ])
}

const marked = { external_ids: column.map(column.string, column.string) } as const
const bridges = { name: column.string, sflow: column.optional(column.uuid), mirrors: column.set(column.uuid) } as const

/** Takes away the rows of one capture, or of all; gives the ids of those that were there. An unlinked row vanishes by itself. */
export async function endCaptures(db: Client, only?: string): Promise<string[]> {
  const [{ rows: sflows }, { rows: mirrors }, { rows }] = await db.transact([
    select('sFlow', [], marked),
    select('Mirror', [], marked),
    select('Bridge', [], bridges)
  ])
  const ids = new Map(
    [...sflows, ...mirrors].flatMap(({ _uuid, external_ids }) => {
      const id = external_ids.get(captureMark)
      return id !== undefined && (only === undefined || id === only) ? [[_uuid, id] as const] : []
    })
  )
  const links = rows.flatMap(({ name, sflow, mirrors: copies }) => {
    const mirrored = Array.from(copies, row => ({ name, link: 'mirrors', row }))
    return sflow === undefined ? mirrored : mirrored.concat({ name, link: 'sflow', row: sflow })
  })
  const unlink = links
    .filter(({ row }) => ids.has(row))
    .map(({ name, link, row }) => mutate('Bridge', [['name', '==', name]], [[link, 'delete', [uuid(row)]]]))
  if (unlink.length > 0) await db.transact(unlink)
  return [...ids.values()]
}
