// 200,000 mutated reviews: always a valid answer or a 4xx, and memory stays flat.
import t from 'tap'
import { reply } from '../../../functions/admission/edge.ts'
import { review, stamp } from '../../../functions/admission/handler.ts'
import { heldMiB } from '../../held-memory.ts'
import { many } from '../../many.ts'
import { bases, deps, failed, fault, golden, log, reviewOf } from './fuzz-bases.ts'
import { mutated, seeded } from './mutate.ts'

t.setTimeout(3_600_000) // a minute of CPU, and ten minutes were seen on a machine shared by many
const rounds = many(200_000)
const seed = 20_261_116

t.test(`${rounds} mutated reviews`, async t => {
  const random = seeded(seed)
  const faults: string[] = []
  const statuses = new Map<number, number>()
  const held: number[] = [] // after each quarter
  for (let i = 0; i < rounds; i++) {
    const body = mutated(random, bases[i % bases.length] as string)
    const answered = await reply(body, asked => (i % 10 === 5 ? stamp(asked, deps) : review(asked, deps)), log as never)
    statuses.set(answered.status, (statuses.get(answered.status) ?? 0) + 1)
    const wrong = fault(answered)
    if (wrong !== undefined && faults.length < 5) faults.push(`${i}: ${wrong}: ${body.slice(0, 2000)}`)
    if ((i + 1) % (rounds / 4) === 0) held.push(heldMiB())
  }
  t.strictSame(faults, [])
  t.strictSame(failed.slice(0, 3), [], 'no error on our side')
  t.ok((statuses.get(200) ?? 0) > rounds / 2, 'most of them were judged', { statuses: [...statuses] })
  t.notOk('polluted' in {}, 'no prototype was touched')
  // What a review leaves behind is left in every quarter; code that is compiled late is not.
  const grown = held.slice(1).map((mebibytes, quarter) => mebibytes - (held[quarter] ?? 0))
  const perReview = (Math.min(...grown) * 2 ** 20) / (rounds / 4)
  t.equal(grown.length, 3)
  t.ok(perReview < 64, `a review leaves ${perReview.toFixed(0)} bytes behind`, { held })
})

t.test('large and deep ones', async t => {
  const deep = (n: number) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`
  const list = (n: number) => `${'['.repeat(n)}${']'.repeat(n)}`
  const put = (base: string, text: string) => base.replace('"spec":{', `"spec":{"deep":${text},`)
  const text = 'x'.repeat(3 * 1024 * 1024)
  for (const base of bases.slice(0, many(bases.length))) {
    const both = (value: string) => base.replaceAll('"spec":{', `"spec":{"deep":${value},`)
    for (const body of [
      put(base, deep(100_000)),
      both(deep(100_000)),
      both(list(200_000)),
      both(JSON.stringify(text)),
      base.replace('"name":"', `"name":"${text}`)
    ])
      t.equal(fault(await reply(body, asked => review(asked, deps), log as never)), undefined)
  }
  const crowded = { template: 'small', disks: Array.from({ length: 20_000 }, (_, i) => ({ name: `d${i}`, size: '1Gi' })) }
  t.equal(
    fault(
      await reply(reviewOf('vitistack.io', 'machines', { ...golden, spec: crowded }), asked => review(asked, deps), log as never)
    ),
    undefined
  )
  t.strictSame(failed, [])
})
