// The corpus: test/fixtures/objects/<kind>/{valid,invalid}/*.yaml. A file with two documents is an update (old, new). An invalid file
// begins with a comment `# path: reason`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Crd } from '../../shared/schema/crd.ts'
import { kinds } from '../../shared/schema/index.ts'

export interface Sample {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; resourceVersion?: string; managedFields?: unknown }
  spec?: unknown
  status?: unknown
}

export interface Case {
  name: string
  kind: Crd
  object: Sample
  old?: Sample
  /** Where an invalid object is wrong. */
  path?: string
}

const folder = join(import.meta.dirname, '..', 'fixtures', 'objects')

export function corpus(verdict: 'valid' | 'invalid'): Case[] {
  return kinds.flatMap(kind => {
    const place = join(folder, kind.kind.toLowerCase(), verdict)
    return readdirSync(place).map(file => read(kind, join(place, file), `${kind.kind} ${verdict}: ${file.replace('.yaml', '')}`))
  })
}

function read(kind: Crd, file: string, name: string): Case {
  const text = readFileSync(file, 'utf8')
  const documents: Sample[] = parseAllDocuments(text).map(document => document.toJS())
  const [first, second] = documents
  if (!first) throw new Error(`${file} is empty`)
  const path = /^# ([^:]+): ./.exec(text)?.[1]
  return { name, kind, ...(second ? { object: second, old: first } : { object: first }), ...(path && { path }) }
}
