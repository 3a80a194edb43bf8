// The page "What happens when I drain a host" names every reason that a server can have, with what to do.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

const folder = join(import.meta.dirname, '..', '..', '..', 'functions', 'evict')
const ofConditions = new Set(['reflect.ts', 'tell.ts']) // the whole Eviction's own words, told below the table
const forms = [/reason: '([A-Z]\w+)'/g, /blocked\(\s*'(\w+)'/g, /refused?\('(\w+)'/g, /kind: '([A-Z]\w+)'/g]

t.test('every reason is explained', async t => {
  const files = (await readdir(folder)).filter(file => file.endsWith('.ts') && !ofConditions.has(file))
  const sources = await Promise.all(files.map(file => readFile(join(folder, file), 'utf8')))
  const reasons = new Set(
    forms.flatMap(form => sources.flatMap(source => [...source.matchAll(form)].map(([, word]) => word ?? '')))
  )
  reasons.delete('Eviction') // the kind of the object
  t.ok(reasons.size > 25, `${reasons.size} reasons`)
  const page = await readFile(join(folder, 'README.md'), 'utf8')
  t.strictSame(
    [...reasons].filter(reason => !page.includes(`\`${reason}\``)),
    []
  )
})
