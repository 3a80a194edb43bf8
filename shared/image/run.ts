import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** A command in an environment that is the same on every machine; gives what it wrote. */
export async function run(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', ...env },
    maxBuffer: 64 * 1024 * 1024
  })
  return stdout
}
