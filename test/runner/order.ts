import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const limit = /\bt\.setTimeout\(([\d_]+)\)/g

/**
 * The order in which files are begun: those that give themselves the most time first, then those with real servers, so that the end of
 * the run is many small ones and not one long.
 */
export async function inOrder(root: string, files: readonly string[], isReal: (file: string) => boolean): Promise<string[]> {
  const rows = await Promise.all(
    files.map(async file => {
      const text = await readFile(join(root, file), 'utf8')
      const limits = [...text.matchAll(limit)].map(([, digits = '']) => Number(digits.replaceAll('_', '')))
      return { file, patience: Math.max(0, ...limits), real: isReal(file) ? 1 : 0 }
    })
  )
  rows.sort((a, b) => b.patience - a.patience || b.real - a.real || a.file.localeCompare(b.file))
  return rows.map(({ file }) => file)
}
