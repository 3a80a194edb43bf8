// `npm run docs`: writes the table of rules into README.md.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withRules } from './rule-table.ts'

const readme = join(import.meta.dirname, 'README.md')
await writeFile(readme, withRules(await readFile(readme, 'utf8')))
