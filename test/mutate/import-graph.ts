import { readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'

const typeImport = /^(?:import|export) type\b[^']*'[^']+'/gm // gone before the file runs
const anyImport = /(?:from|import)\s*\(?\s*'([^']+)'/g

/** What a test file imports, itself and through others. */
export interface Reach {
  /** 1 for its own imports, 2 for theirs. */
  distance: Map<string, number>
  /** Who imports a file, among all that are reached. */
  importers: Map<string, string[]>
}

export async function reachOf(root: string, test: string, packages: ReadonlyMap<string, string>): Promise<Reach> {
  const reach = new Map([[test, 0]])
  const importers = new Map<string, string[]>()
  let ring = [test]
  for (let distance = 1; ring.length > 0; distance++) {
    const next: string[] = []
    for (const file of ring) {
      for (const target of await importsOf(root, file, packages)) {
        importers.set(target, [...(importers.get(target) ?? []), file])
        if (reach.has(target)) continue
        reach.set(target, distance)
        next.push(target)
      }
    }
    ring = next
  }
  return { distance: reach, importers }
}

/** The file itself and all that depend on it. */
export function dependentsOf(file: string, { importers }: Reach): Set<string> {
  const found = new Set([file])
  for (const one of found) for (const importer of importers.get(one) ?? []) found.add(importer)
  return found
}

const known = new Map<string, Promise<string[]>>()

function importsOf(root: string, file: string, packages: ReadonlyMap<string, string>): Promise<string[]> {
  const path = join(root, file)
  const imports =
    known.get(path) ??
    readFile(path, 'utf8').then(
      text =>
        [...text.replaceAll(typeImport, '').matchAll(anyImport)].flatMap(([, target = '']) => {
          if (target.startsWith('.')) return target.endsWith('.ts') ? [normalize(join(dirname(file), target))] : []
          return packages.get(target) ?? []
        }),
      () => [] // a name in a sample of code, not an import
    )
  known.set(path, imports)
  return imports
}

/** The packages of this repository by the name under which they are imported: `node-libvirt/server` is a file under shared/. */
export async function ownPackages(root: string): Promise<Map<string, string>> {
  const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8')) as Record<string, unknown>
  const { workspaces = [] } = (await read('package.json')) as { workspaces?: string[] }
  const packages = new Map<string, string>()
  for (const folder of workspaces) {
    const { name, exports } = (await read(`${folder}/package.json`)) as {
      name: string
      exports: Record<string, { drover: string }>
    }
    for (const [entry, { drover }] of Object.entries(exports)) packages.set(join(name, entry), join(folder, drover))
  }
  return packages
}
