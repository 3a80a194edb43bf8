import t, { type Test } from 'tap'
import { matchWhole } from './match-whole.ts'

// What matchWhole said: to a test of its own, whose failures are not those of this file.
function judged(found: unknown, pattern: unknown): string {
  let said = ''
  const other = {
    match: () => {
      said = 'left to match'
      return true
    },
    fail: (message: string) => {
      said = message
      return false
    }
  }
  matchWhole(other as unknown as Test, found, pattern, 'that')
  return said
}

const cases: Array<[found: unknown, pattern: unknown, said: string]> = [
  [[1], [1], 'left to match'],
  [[1, 2], [1], 'that: it has 2 elements, expected 1'],
  [[], [1], 'that: it has 0 elements, expected 1'],
  [{ a: [1] }, { a: [] }, 'that: it.a has 1 elements, expected 0'],
  [{ a: [] }, { a: [] }, 'left to match'],
  [{ a: { b: 1 } }, { a: [] }, 'that: it.a is no array'],
  [{ a: { b: 1 } }, { a: {} }, 'that: it.a has b, expected {}'],
  [{ a: {}, b: 1 }, { a: {} }, 'left to match'],
  [{ a: [{ b: [1, 2] }] }, { a: [{ b: [1] }] }, 'that: it.a[0].b has 2 elements, expected 1'],
  [{ a: 'text', b: 1 }, { a: /t/ }, 'left to match'],
  [{ a: ['x'] }, { a: Array }, 'left to match'],
  [undefined, { a: [] }, 'left to match'],
  [{ a: undefined }, { a: [] }, 'left to match']
]
for (const [found, pattern, said] of cases) {
  t.test(`${JSON.stringify(found)} against ${JSON.stringify(pattern)}`, async t => t.equal(judged(found, pattern), said))
}

t.test('what is left to match is matched', async t => {
  matchWhole(t, { a: [{ b: 'some text', c: 1 }], d: 2 }, { a: [{ b: /text/ }] })
  t.notMatch(undefined, { a: [] })
  t.notMatch({}, { a: [] })
})
