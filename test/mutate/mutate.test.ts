import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { withoutEquivalents } from './equivalent.ts'
import { mutantsOf } from './mutants.ts'

t.setTimeout(300_000)

const changes: Array<[name: string, code: string, changes: string[]]> = [
  ['a limit', 'a < b', ['< → <=', '< → >=']],
  ['an equality', 'a === b', ['=== → !==']],
  ['a sum', 'a + 1', ['+ → -', '1 → 2', '1 → 0']],
  ['text is not subtracted', "a + 'x'", ["'x' → ''"]],
  ['either or both', 'f(a && b)', ['a && b → (a || b)', 'a && b → (a)', 'a && b → (b)']],
  ['a default', 'f(a ?? b)', ['a ?? b → (a)', 'a ?? b → (b)']],
  [
    'a statement does not begin with a parenthesis',
    'a || b',
    ['a || b → ;', 'a || b → ;(a && b)', 'a || b → ;(a)', 'a || b → ;(b)']
  ],
  ['a negation', 'f(!a)', ['!a → a']],
  ['a choice', 'f(a ? b : c)', ['a → true', 'a → false']],
  ['a condition and its block', 'if (a) { b() }', ['a → true', 'a → false', '{ b() } → {}']],
  ['a loop', 'while (a) b++', ['a → false', 'b++ → ;', '++ → --']],
  ['a chain', 'f(a?.b, c?.[d])', ['?. → .', '?. → ']],
  ['lists and flags', 'f([a], true, [])', ['[a] → []', 'true → false']],
  ['a filter', 'f(a.filter(x => x.y))', ['a.filter(x => x.y) → a', 'x.y → true', 'x.y → false']],
  ['methods', 'f(a.some(g), b.startsWith(c), Math.min(d))', ['some → every', 'startsWith → endsWith', 'min → max']],
  ['a template', 'f(`${a} b`)', ['`${a} b` → ``']],
  [
    'an end without a value',
    'function f() { if (a) return; b }',
    ['{ if (a) return; b } → {}', 'a → true', 'a → false', 'return; → ;', 'b → ;']
  ],
  ['types, names and paths stay', "import { a } from './a.ts'\nexport const b: { 'c': 1 } = { 'd': a as 'e' }", []]
]
/** The removal of the whole line, which each sample that is a statement has. */
const isStatement = (change: string, code: string): boolean => change === `${code} → ;`

for (const [name, code, wanted] of changes) {
  t.test(`changes: ${name}`, async t => {
    const found = mutantsOf('a.ts', code)
    const shown = found
      .map(({ original, text }) => `${original} → ${text}`)
      .filter(change => wanted.includes(change) || !isStatement(change, code))
    t.strictSame(shown.toSorted(), wanted.toSorted())
  })
}
t.test('a mutant says where it is, and in which line', async t => {
  const mutant = mutantsOf('a.ts', 'const a = 1\n  const b = !a\n').find(({ text }) => text === 'a')
  t.strictSame(
    { file: mutant?.file, line: mutant?.line, column: mutant?.column, context: mutant?.context },
    { file: 'a.ts', line: 2, column: 13, context: 'const b = !a' }
  )
})

t.test('an equivalent mutant is found by its line, wherever that stands', async t => {
  const entry = { file: 'a.ts', line: 'f(!a)', from: '!a', to: 'a', reason: 'f ignores it' }
  const { rest, excused, stale } = withoutEquivalents(mutantsOf('a.ts', '\n\nf(!a)\nf(!a, 2)'), [
    entry,
    { ...entry, line: 'g(!a)' }
  ])
  t.strictSame(
    excused.map(({ line }) => line),
    [3]
  )
  t.ok(rest.some(({ line, text }) => line === 4 && text === 'a'))
  t.strictSame(
    stale.map(({ line }) => line),
    ['g(!a)']
  )
})

t.test('a run on a sample', async t => {
  const run = async (...args: string[]) => {
    const root = join(import.meta.dirname, 'fixture')
    const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), '--root', root, ...args], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    return { output, code: code as number }
  }
  const { output, code } = await run('--least', '95', 'functions/gate/decide.ts')
  t.match(output, 'functions/gate/decide.ts:5:15  <  →  <=\n', 'the survivor, by its place')
  t.match(output, /functions\/gate +13 of 14 killed +1 survived +92\.9 % +1 endless +in \d+ s/)
  t.match(output, 'FAILED: functions/gate: less than 95 % killed')
  t.equal(code, 1)
  const again = await run('--survivors', '--least', '0', 'functions/gate/decide.ts')
  t.match(again.output, /functions\/gate +0 of 1 killed/, 'only what survived the last run')
  t.equal(again.code, 0)
  const unknown = await run('functions/nowhere.ts')
  t.match(unknown.output, 'FAILED: no source file is named functions/nowhere.ts')
  t.equal(unknown.code, 1)
  const { output: help } = await run('--help')
  t.match(help, '--survivors')
})
