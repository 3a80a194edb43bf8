// What the type checker refuses cannot land, whatever the tests say: such mutants are not counted.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { apply, type Mutant } from './mutants.ts'

const atOnce = 500
const fault = /^(\S+?)\(\d+,\d+\): error /gm

/** The mutants that the type checker accepts. */
export async function compiling(root: string, mutants: readonly Mutant[]): Promise<Mutant[]> {
  const kept: Mutant[] = []
  for (let from = 0; from < mutants.length; from += atOnce)
    kept.push(...(await accepted(root, mutants.slice(from, from + atOnce))))
  return kept
}

async function accepted(root: string, mutants: readonly Mutant[]): Promise<Mutant[]> {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'mutate-'))
  try {
    const files = await Promise.all(
      mutants.map(async (mutant, index) => {
        const path = join(folder, mutant.file.replace(/\.ts$/, `.${index}.ts`))
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, apply(await readFile(join(root, mutant.file), 'utf8'), mutant))
        return path
      })
    )
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        // the mutants lie in a folder of their own and import their neighbours as if they stood beside them
        compilerOptions: {
          rootDirs: [root, folder],
          noUnusedLocals: false,
          noUnusedParameters: false,
          allowUnreachableCode: true
        },
        files,
        include: []
      })
    )
    const refused = await faulty(root, folder)
    return mutants.filter((_, index) => !refused.has(files[index] as string))
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function faulty(root: string, folder: string): Promise<Set<string>> {
  const child = spawn(join(import.meta.dirname, '../../node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
    cwd: root
  })
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const found = new Set([...output.matchAll(fault)].map(([, file = '']) => join(root, file)))
  const others = [...found].filter(file => relative(folder, file).startsWith('..'))
  if (errors !== '' || others.length > 0 || (code !== 0 && found.size === 0))
    throw new Error(`tsc: ${errors}${output.slice(0, 2000)}`)
  return found
}
