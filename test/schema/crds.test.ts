import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kinds } from '../../shared/schema/index.ts'
import { crdFiles } from '../../shared/schema/to-yaml.ts'

const folder = join(import.meta.dirname, '..', '..', 'crds')

t.test('crds/ is what `npm run crds` writes', async t => {
  const committed = Object.fromEntries(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]))
  t.strictSame(committed, crdFiles(kinds))
})
