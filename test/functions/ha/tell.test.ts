import t from 'tap'
import type { News } from '../../../functions/ha/seen.ts'
import { inFewWords } from '../../../functions/ha/tell.ts'

const news = (reason: string, note: string): News => ({ type: 'Warning', reason, note })

t.test('what happens to few is told one by one, what happens to many in one line', async t => {
  const few = [news('Reported', 'one'), news('Reported', 'two'), news('OutOfBand', 'three')]
  t.strictSame(inFewWords(few), few)
  const many = Array.from({ length: 50 }, (_, n) => news('FleetFault', `Server ${n}: ${'x'.repeat(2000)}`))
  const [line, other, ...rest] = inFewWords([...many, news('Reported', 'one')])
  t.strictSame(rest, [])
  t.equal(other?.note, 'one')
  t.match(line?.note, /^Server 0: x+ And 49 more at the same time: see status\.ha\.$/)
  t.ok((line?.note.length ?? 0) <= 1000)
})
