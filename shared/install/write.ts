// `npm run docs`: the generated parts of knative/.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generated } from './generated.ts'
import { knative, manifests } from './manifests.ts'

const read = (file: string) => readFile(join(knative, file), 'utf8')
for (const [file, text] of Object.entries(await generated(await manifests(), read))) await writeFile(join(knative, file), text)
