import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const typeImport = /^import type\b[^']*'[^']+'/gm // gone before the file runs
const localImport = /(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g

/**
 * The real servers that a test file asks for: every test/servers/NAME.ts with a `prepare` that it imports, itself or through its helpers.
 * A server that stands on another one imports it, so it comes before: ready in the order of the list.
 */
export async function serversOf(file: string, servers: string): Promise<string[]> {
  const seen = new Set<string>()
  const found: string[] = []
  async function follow(path: string): Promise<void> {
    if (seen.has(path)) return
    seen.add(path)
    const text = await readFile(path, 'utf8').catch(() => '') // a name in a sample of code, not an import
    for (const [, target] of text.replaceAll(typeImport, '').matchAll(localImport))
      await follow(join(dirname(path), target as string))
    if (dirname(path) === servers && /^export\b.*\bprepare\b/m.test(text)) found.push(basename(path, '.ts'))
  }
  await follow(file)
  return found
}
