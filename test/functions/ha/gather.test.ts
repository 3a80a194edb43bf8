import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { gather } from '../../../functions/ha/gather.ts'

t.test('HA-17: the first goes on at once, the rest together and in order, and who told fails with its work', async t => {
  const works: string[] = []
  let fails = false
  const anHour = 3_600_000
  const { add, flush, close } = gather<number>(anHour, async (key, items) => {
    works.push(`${key} ${items.join()}`)
    if (fails) throw new Error('not written')
  })
  await add('a', [1])
  await add('b', [7])
  t.strictSame(works, ['a 1', 'b 7'])
  const [second, third] = [add('a', [2]), add('a', [3, 4])]
  await pause(5)
  t.strictSame(works.slice(2), [], 'they wait for each other')
  fails = true
  flush('a')
  t.strictSame(works.slice(2), ['a 2,3,4'], 'and go on when they must')
  await t.rejects(second)
  await t.rejects(third)
  fails = false
  const last = add('b', [8])
  close()
  await last
  t.strictSame(works.slice(3), ['b 8'])
  flush('nobody')
})

t.test('by time alone', async t => {
  const works: number[][] = []
  const { add } = gather<number>(20, async (_, items) => void works.push([...items]))
  await add('a', [1])
  await Promise.all([add('a', [2]), add('a', [3])])
  t.strictSame(works, [[1], [2, 3]])
})
