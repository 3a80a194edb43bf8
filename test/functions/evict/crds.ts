// The kinds as they are installed, for an embedded API.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'

const folder = join(import.meta.dirname, '..', '..', '..', 'crds')

export async function readCrds(): Promise<object[]> {
  const files = (await readdir(folder)).filter(file => file.endsWith('.yaml') && file !== 'kustomization.yaml')
  return Promise.all(files.map(async file => parse(await readFile(join(folder, file), 'utf8')) as object))
}
