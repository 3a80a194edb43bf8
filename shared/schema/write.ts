// npm run crds
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kinds } from './index.ts'
import { crdFiles } from './to-yaml.ts'

const folder = join(import.meta.dirname, '..', '..', 'crds')
await mkdir(folder, { recursive: true })
for (const [name, content] of Object.entries(crdFiles(kinds))) await writeFile(join(folder, name), content)
