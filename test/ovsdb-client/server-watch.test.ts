import t from 'tap'
import { type DatabaseRow, type Wish, unsuitable } from '../../shared/ovsdb-client/src/server-watch.ts'

const cid = '11111111-1111-1111-1111-111111111111'
const row = (more: Partial<DatabaseRow> = {}): DatabaseRow => ({
  name: 'Test',
  model: 'clustered',
  connected: true,
  leader: true,
  cid,
  index: 10n,
  ...more
})
const wish = (more: Partial<Wish> = {}): Wish => ({ database: 'Test', leaderOnly: true, progress: { cid, index: 10n }, ...more })

const cases: Array<[name: string, row: DatabaseRow | undefined, wish: Wish, reason: string | undefined]> = [
  ['the leader', row(), wish(), undefined],
  [
    'a stand-alone server, whatever else it says',
    row({ model: 'standalone', connected: false, leader: false }),
    wish(),
    undefined
  ],
  ['no such database', undefined, wish(), 'has no database Test'],
  ['a follower', row({ leader: false }), wish(), 'is not the leader of Test'],
  ['a follower, for one who does not mind', row({ leader: false }), wish({ leaderOnly: false }), undefined],
  ['cut off from the others', row({ connected: false }), wish({ leaderOnly: false }), 'is cut off from the cluster of Test'],
  ['a relay without its source', row({ model: 'relay', connected: false }), wish(), 'is cut off from the source of Test'],
  ['behind what was seen', row({ index: 9n }), wish(), 'is behind what was already seen of Test'],
  ['another cluster has its own count', row({ index: 1n, cid: '22222222-2222-2222-2222-222222222222' }), wish(), undefined]
]
for (const [name, given, wanted, reason] of cases) t.test(`OV-14 ${name}`, async t => t.equal(unsuitable(given, wanted), reason))
