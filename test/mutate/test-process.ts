import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface TestRun {
  root: string
  file: string
  env: Record<string, string>
  /** Preloaded before the file. */
  preload: string
  /** Of processor time: what computes for longer is taken for an endless loop, however busy the machine is. */
  seconds: number
}

const backstopMs = 180_000 // for what neither computes nor ends

/** Runs a test file as a process of its own, up to its first failed assertion. */
export async function testRun({ root, file, env, preload, seconds }: TestRun): Promise<'passed' | 'failed' | 'endless'> {
  const limited = ['-c', 'ulimit -t "$0" && exec "$@"', String(Math.ceil(seconds)), process.execPath, file]
  const child = spawn('sh', limited, {
    cwd: root,
    stdio: 'ignore',
    env: {
      ...process.env,
      TAP: '1',
      TAP_BAIL: '1',
      TAP_TIMEOUT: '300',
      DROVER_TRIES: '0.1',
      DROVER_SHARD: '1/8',
      NODE_OPTIONS: `--conditions=drover --import=${preload}`,
      ...env
    }
  })
  const backstop = setTimeout(() => child.kill('SIGKILL'), backstopMs)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(backstop)
  if (signal !== null) return 'endless'
  return code === 0 ? 'passed' : 'failed'
}
