import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { poll } from '../inbox.ts'
import type { Fact } from '../observed.ts'
import { type KernelBond, readBonding } from '../wire/bonding.ts'

/** The kernel's bonds, a file each. One that was there and cannot be read is Unknown, not gone (OV-37). */
export function kernelBonds(folder: string, everyMs: number, signal: AbortSignal): AsyncGenerator<Fact> {
  let known = ''
  let names: readonly string[] = []
  return poll(
    () => everyMs,
    signal,
    async () => {
      names = await readdir(folder).catch((error: unknown) => (isAbsent(error) ? [] : names))
      const texts = await Promise.all(
        names.map(async name => [name, await readFile(join(folder, name), 'utf8').catch(() => '')] as const)
      )
      const print = JSON.stringify(texts)
      if (print === known) return {}
      known = print
      return { kernelBonds: new Map<string, KernelBond | undefined>(texts.map(([name, text]) => [name, readBonding(text)])) }
    }
  )
}

/** No bonding in this kernel. Anything else says nothing of the bonds that were there: their files will not be read either. */
const isAbsent = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
