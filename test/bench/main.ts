import { readdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { rowOf, type Bench, type Row } from './report.ts'

// npm run bench [-- NAME…] [--json]: every other file of this folder is a bench of its name, but for the report's own.
const { positionals, values } = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean', default: false } } })

const files = await readdir(import.meta.dirname)
const known = files
  .filter(file => file.endsWith('.ts') && !['main.ts', 'report.ts'].includes(file))
  .map(file => file.slice(0, -3))
const unknown = positionals.filter(name => !known.includes(name))
if (unknown.length > 0) {
  console.error(`no bench named ${unknown.join(', ')}; there are ${known.join(', ')}`)
  process.exit(2)
}

for (const name of positionals.length > 0 ? positionals : known) {
  const bench = (await import(`./${name}.ts`)) as Bench
  const rows: Row[] = []
  try {
    await bench.run(figure => rows.push(rowOf(figure)))
  } finally {
    // also those of a bench that failed later
    if (values.json) for (const row of rows) console.log(JSON.stringify(row))
    else console.table(rows)
  }
}
