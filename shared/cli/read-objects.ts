// The objects of files, as kubectl reads them: several documents a file, Lists, folders, standard input; with the line each begins at.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMap, isSeq, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml'

export interface Place {
  file: string
  line: number
}

export interface Found extends Place {
  object: unknown
}

/** A file that cannot be read, or is no YAML. */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

const suffix = /\.(ya?ml|json)$/

export async function readObjects(paths: readonly string[], stdin: () => Promise<string>): Promise<Found[]> {
  const files = (await Promise.all(paths.map(filesOf))).flat()
  const found: Found[] = []
  for (const file of files)
    found.push(...objectsIn(file === '-' ? 'stdin' : file, file === '-' ? await stdin() : await text(file)))
  return found
}

async function filesOf(path: string): Promise<string[]> {
  if (path === '-' || !(await isFolder(path))) return [path]
  const names = (await readdir(path)).filter(name => suffix.test(name)).sort()
  if (names.length === 0) throw new Unreadable(`${path}: no .yaml, .yml or .json file in it`)
  return names.map(name => join(path, name))
}

const isFolder = async (path: string): Promise<boolean> => (await told(path, stat(path))).isDirectory()
const text = (path: string): Promise<string> => told(path, readFile(path, 'utf8'))

const reasons: Readonly<Record<string, string>> = { ENOENT: 'there is no such file', EACCES: 'it may not be read' }
async function told<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException
    throw new Unreadable(`${path}: ${reasons[code] ?? message}`, { cause })
  }
}

export function objectsIn(file: string, yaml: string): Found[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(yaml, { lineCounter: lines, logLevel: 'silent' }) as Document[]
  return documents.flatMap(document => {
    const [error] = document.errors
    if (error)
      throw new Unreadable(`${file}:${error.linePos?.[0].line ?? 1}: ${error.message.split('\n')[0]?.replace(/ at line .*/, '')}`)
    const lineOf = (node: unknown): number => lines.linePos((node as Node | null)?.range?.[0] ?? 0).line
    const object: unknown = document.toJS({ maxAliasCount: 100 })
    if (object === null || object === undefined) return [] // nothing between two ---
    const items = isMap(document.contents) ? document.contents.get('items', true) : undefined
    if (!isList(object) || !isSeq(items)) return [{ file, line: lineOf(document.contents), object }]
    return object.items.map((item, i) => ({ file, line: lineOf(items.items[i]), object: item }))
  })
}

const isList = (object: unknown): object is { items: unknown[] } =>
  typeof object === 'object' &&
  object !== null &&
  'kind' in object &&
  'items' in object &&
  Array.isArray(object.items) &&
  String(object.kind).endsWith('List')
