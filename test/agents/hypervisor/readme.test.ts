import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { config } from '../../../agents/hypervisor/config.ts'
import { settingsOf, settingsTable } from '../../../shared/runtime/help.ts'

const folder = join(import.meta.dirname, '../../../agents/hypervisor')

t.test('the README lists every setting, as the code has it', async t => {
  const readme = await readFile(join(folder, 'README.md'), 'utf8')
  const [, table = ''] = /<!-- settings:[^>]*-->\n([^]*?)\n<!-- \/settings -->/.exec(readme) ?? []
  t.equal(table, settingsTable(config))
  t.strictSame(
    settingsOf(config).flatMap(({ name, meaning }) => (meaning === '' ? [name] : [])),
    [],
    'each says what it is for'
  )
})

t.test('--help names every variable, its default and whether it is needed', async t => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=drover', join(folder, 'main.ts'), '--help'])
  t.match(stdout, /^hypervisor-agent: /)
  for (const { name } of settingsOf(config)) t.match(stdout, new RegExp(`^  ${name}$`, 'm'))
  t.match(stdout, /NODE_NAME\n {6}.*required/)
  t.match(stdout, /SPOOL_BYTES\n {6}.*default 67108864/)
  t.match(stdout, /^ {2}PORT$/m, 'and those of every agent')
})
