import t from 'tap'
import { validate } from '../../shared/schema/validate.ts'
import { type Case, corpus } from './corpus.ts'

const valid = corpus('valid')
const invalid = corpus('invalid')

for (const { name, kind, object, old } of valid) {
  t.test(name, async t => {
    if (old) t.strictSame(validate(kind, old), [])
    t.strictSame(validate(kind, object, old), [])
  })
}

for (const { name, kind, object, old, path } of invalid) {
  t.test(name, async t => {
    if (old) t.strictSame(validate(kind, old), [], 'what was there before is valid')
    const wrong = validate(kind, object, old)
    t.ok(wrong.length > 0, 'is refused')
    t.ok(
      wrong.some(violation => violation.path === path),
      `names ${path}`,
      { wrong }
    )
  })
}

t.test('the corpus is large enough', async t => {
  const least: Record<string, [number, number]> = { Hypervisor: [8, 15], Eviction: [8, 15], Machine: [8, 15] }
  const count = (cases: Case[], kind: string) => cases.filter(one => one.kind.kind === kind).length
  for (const kind of new Set(valid.map(one => one.kind.kind))) {
    const [good, bad] = least[kind] ?? [5, 8]
    t.ok(count(valid, kind) >= good && count(invalid, kind) >= bad, kind)
  }
})
