// Whole Open vSwitch nodes and OVN, in network, mount and PID namespaces of their own
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { type Teardown, endProcess, env, folder } from './daemon.ts'

const scripts = import.meta.dirname

export interface OvsLab {
  readonly dir: string
  /** A command inside the lab, by the shell: the fault to be observed. */
  readonly run: (command: string) => string
}

/**
 * Runs the shell script `up` in the lab; `node.sh`, `ovn-central.sh` and `ovn-host.sh` can be called by name. Resolves when `up` is
 * done; `hostNetwork` leaves it in the caller's network. Everything it started ends with the test, or with this process.
 */
export async function startOvsLab(t: Teardown, up: string, { hostNetwork = false } = {}): Promise<OvsLab> {
  const dir = await folder(t)
  const inside = { ...env, DIR: dir, PATH: `${scripts}:${env['PATH']}`, ...(hostNetwork && { HOSTNET: '1' }) }
  const child = spawn('lab.sh', ['bash', '-ec', up], { env: inside, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => endProcess(child, 'SIGKILL'))
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the lab did not come up')))
  ])
  const run = (command: string) => {
    const init = execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).trim()
    return execFileSync('nsenter', ['-t', init, '-n', '-m', '-p', 'sh', '-ec', command], { env: inside, encoding: 'utf8' })
  }
  return { dir, run }
}
