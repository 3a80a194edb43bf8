// Which microversion a request carries. It is worked out for each request and never kept on anything shared.
import { type Answer, type Call, type Service, type Version, call, label } from '../call.ts'
import { row, rows, text, textOrNull, type Row } from '../decode.ts'
import { OpenStackError } from '../error.ts'

export interface Range {
  min: Version
  max: Version
}

/** The versions that this library was written for: below the floor fields are missing, above the cap meanings may change. */
export const limits: Readonly<Partial<Record<Service, { floor: Version; cap: Version }>>> = {
  compute: { floor: '2.90', cap: '2.94' },
  placement: { floor: '1.28', cap: '1.39' }
}

const order = (version: Version): number => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major * 10_000 + minor
}
const highest = (...versions: Version[]): Version => versions.reduce((a, b) => (order(a) >= order(b) ? a : b))
const lowest = (...versions: Version[]): Version => versions.reduce((a, b) => (order(a) <= order(b) ? a : b))

/**
 * The newest version that the server, this library and the call all agree on. The floor is asked of the server; a call
 * whose `until` lies below it is sent with the older version, which every server above the floor still understands.
 */
export function negotiate(row: Call<string, unknown>, offered: Range): Version {
  const { floor, cap } = limits[row.service] ?? { floor: offered.min, cap: offered.max }
  const needed = highest(floor, row.since ?? floor)
  const chosen = lowest(cap, row.until ?? cap, offered.max)
  if (order(offered.max) >= order(needed) && order(chosen) >= order(offered.min)) return chosen
  throw new OpenStackError(
    'VersionUnsupported',
    `needs a server with ${row.service} ${needed}, this one offers ${offered.min} to ${offered.max}`,
    { call: label(row) }
  )
}

export const discover = (service: Service): Call<'/', Range> =>
  call({ name: `${service}.versions`, row: 'discovery', service, method: 'GET', path: '/', ok: [200], decode: readRange })

// Nova: {"version": {"min_version": "2.1", "version": "2.93"}}   Placement: {"versions": [{"min_version": "1.0", "max_version": "1.39"}]}
function readRange({ body }: Answer): Range {
  const document = row(body)
  const entries = 'version' in document ? [row(document['version'])] : rows(document, 'versions')
  const entry = entries.find(entry => textOrNull(entry, 'min_version'))
  if (!entry) throw new OpenStackError('BadAnswer', 'the version document names no microversion')
  return { min: version(entry, 'min_version'), max: version(entry, textOrNull(entry, 'max_version') ? 'max_version' : 'version') }
}

function version(from: Row, key: string): Version {
  const value = text(from, key)
  if (!/^\d+\.\d+$/.test(value)) throw new OpenStackError('BadAnswer', `${key} is no microversion: ${value}`)
  return value as Version
}
