import t from 'tap'
import { ofThisShard } from './shard.ts'

const all = Array.from({ length: 10 }, (_, n) => n)

t.test('each is tried in exactly one shard, about as many in each', async t => {
  t.strictSame(
    ['1/3', '2/3', '3/3'].map(shard => ofThisShard(all, shard)),
    [
      [0, 3, 6, 9],
      [1, 4, 7],
      [2, 5, 8]
    ]
  )
  t.strictSame(ofThisShard(all, '1/1'), all)
})

t.test('what is no shard is refused: nothing would be tried', async t => {
  for (const shard of ['', '0/8', '9/8', '8', '1/0', '1/8x']) t.throws(() => ofThisShard(all, shard), /DROVER_SHARD/, shard)
})
