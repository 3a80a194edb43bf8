// What Go's regexp said of these patterns, and what we say.
import t from 'tap'
import { goRegExp, re2Error } from '../../../shared/local/kube-api/re2.ts'

const refused: Array<[pattern: string, why: string]> = [
  ['^(?=a)b', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?!x)', 'invalid or unsupported Perl syntax: `(?!`'],
  ['(?>a)', 'invalid or unsupported Perl syntax: `(?>`'],
  ['(?#c)', 'invalid or unsupported Perl syntax: `(?#`'],
  ['(?<=a)b', 'invalid named capture: `(?<=a)b`'],
  ['(?<!a)b', 'invalid named capture: `(?<!a)b`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['\\k<n>', 'invalid escape sequence: `\\k`'],
  ['\\u0041', 'invalid escape sequence: `\\u`'],
  ['[\\u0041]', 'invalid escape sequence: `\\u`'],
  ['\\cA', 'invalid escape sequence: `\\c`'],
  ['\\Z', 'invalid escape sequence: `\\Z`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['a{2,1}', 'invalid repeat count: `{2,1}`'],
  ['\\', 'trailing backslash at end of expression: ``']
]
const taken = [
  '(?<n>a)',
  '(?P<n>a)',
  '\\A\\d\\w\\s\\b\\z',
  '\\p{L}',
  '[[:alpha:]]',
  '\\-\\/\\_',
  '(?i)a',
  '(?:a)',
  'a{1000}',
  '\\x41',
  '[(?=]'
]

t.test('what RE2 does not know is refused in its words', async t => {
  for (const [pattern, why] of refused) t.equal(re2Error(pattern), `error parsing regexp: ${why}`, pattern)
  for (const pattern of ['[a', '(a', 'a)', '*a', '[b-a]']) t.match(re2Error(pattern), /^error parsing regexp: /, pattern)
  for (const pattern of taken) t.equal(re2Error(pattern), undefined, pattern)
})

t.test('what Go writes in another way means the same', async t => {
  t.ok(goRegExp('(?i)^drover$').test('DROVER'))
  t.ok(goRegExp('\\A[[:alpha:]]+\\z').test('abc'))
  t.notOk(goRegExp('\\A[[:alpha:]]+\\z').test('ab1'))
  t.ok(goRegExp('^(?P<a>x)\\-$').test('x-'))
})
