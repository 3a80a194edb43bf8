// `npm run docs`: writes the table of events into the README.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withTable } from './table.ts'

const readme = join(import.meta.dirname, '..', '..', 'README.md')
await writeFile(readme, withTable(await readFile(readme, 'utf8')))
