import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '../..')

// Through the configuration of the repository, so that a rule that is not switched on is noticed too.
function lint(file: string): Promise<string[]> {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint')
  return new Promise(resolve => {
    execFile(process.execPath, [oxlint, '-c', join(root, '.oxlintrc.json'), '-f', 'unix', file], (_, out) =>
      resolve(out.split('\n').flatMap(line => /:(\d+):\d+: .*\[Error\/assertions\((.*)\)\]/.exec(line)?.slice(1).join(' ') ?? []))
    )
  })
}

const lines: Array<[line: string, ...rules: string[]]> = [
  ['t.same(found, { a: 1 })', 'no-loose-equality'],
  ['t.notSame(found, 1)', 'no-loose-equality'],
  ['t.strictSame(found, [])'],
  ['notation.same(found, 1)'],
  ['t.match(found, [])', 'no-empty-pattern'],
  ['t.match(found, {})', 'no-empty-pattern'],
  ['t.match(found, { deep: { deeper: [] } })', 'no-empty-pattern'],
  ['t.match(found, name ? { a: 1 } : {})', 'no-empty-pattern'],
  ['t.match(found, { ...name, deep: [{}] })', 'no-array-pattern', 'no-empty-pattern'],
  ['t.match(found, [{ a: 1 }])', 'no-array-pattern'],
  ['t.match(found[0], { a: /b/, c: { d: Number } })'],
  ['t.match(found, /text/)'],
  ['t.match(find({}, []), name)']
]

t.test('each assertion that would pass whatever comes is refused, with the line', async t => {
  const file = join(t.testdir(), 'some.test.ts')
  await writeFile(file, lines.map(([line]) => line).join('\n'))
  t.strictSame(
    (await lint(file)).toSorted(),
    lines.flatMap(([, ...rules], index) => rules.map(rule => `${index + 1} ${rule}`)).toSorted()
  )
})
