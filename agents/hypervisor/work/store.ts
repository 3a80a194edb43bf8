// The little that must outlive the agent, in one file beside the spool
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

export interface Kept {
  epoch?: number
  /** No number of an event was above this one. */
  sequence?: number
  /** Kernel dumps that were told, or were there before the first start. */
  dumps?: readonly string[]
  update?: { version: string; bootId: string }
}

export interface Store {
  read: () => Kept
  write: (change: Kept) => Promise<void>
}

export async function openStore(path: string, failed: (err: Error) => void): Promise<Store> {
  let kept: Kept = {}
  try {
    kept = JSON.parse(await readFile(path, 'utf8')) as Kept
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') failed(err as Error)
  }
  let turn = Promise.resolve()
  const save = async (): Promise<void> => {
    try {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(`${path}.new`, JSON.stringify(kept))
      await rename(`${path}.new`, path)
    } catch (err) {
      failed(err as Error) // known as long as the process lives
    }
  }
  return {
    read: () => kept,
    write(change) {
      kept = { ...kept, ...change }
      return (turn = turn.then(save))
    }
  }
}
