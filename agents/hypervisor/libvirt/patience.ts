// How long to wait for the next try, when libvirt could not be reached (NA-7: up to 5 s apart, but within 1 s when the daemon is back)
import { watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { LibvirtError, Target } from 'node-libvirt'

/** A new socket is there before somebody listens on it: for so long it is asked often. */
const wakefulMs = 5000
const quickMs = 100
/** Where there is no file to be watched, a refused try costs nothing. */
const remoteMs = 1000

export interface Patience {
  /** Before a try: a socket that is made from now on is seen. */
  begin: () => void
  failed: (err: LibvirtError) => void
  wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>
  /** Connected, or given up. */
  end: () => void
}

export function patience(target: Target): Patience {
  const path = target.transport === 'unix' ? target.path : undefined
  let watcher: FSWatcher | undefined
  let madeAt = -Infinity
  let wake = (): void => {}
  let slow = false

  const end = (): void => {
    watcher?.close()
    watcher = undefined
  }
  return {
    end,
    begin() {
      end()
      if (path !== undefined)
        watcher = watchFor(path, () => {
          madeAt = performance.now()
          wake()
        })
    },
    failed(err) {
      slow = err.code === 'timeout' // one that hangs has been waited for long enough, and nothing tells when it goes on
    },
    wait(ms, signal) {
      const often = slow || performance.now() - madeAt < wakefulMs
      const longest = often ? quickMs : path === undefined ? remoteMs : ms
      return new Promise(resolve => {
        const done = (): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          wake = () => {}
          resolve()
        }
        const timer = setTimeout(done, Math.min(ms, longest))
        wake = done
        if (signal?.aborted) done()
        else signal?.addEventListener('abort', done)
      })
    }
  }
}

/** Undefined where there is no such folder yet: then the time alone counts. */
function watchFor(path: string, made: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_, name) => {
      if (name === basename(path)) made()
    })
    return watcher.on('error', () => watcher.close())
  } catch (err) {
    if (['ENOENT', 'EACCES', 'ENOSPC', 'EMFILE', 'ENOTDIR'].includes((err as NodeJS.ErrnoException).code ?? '')) return undefined
    throw err
  }
}
