// A delay lock of logind. It is a file descriptor, which a Node socket cannot receive: `systemd-inhibit` holds it for us, as its own child
// of ours. It lives as long as its standard input is open, so that the lock goes with the agent, however that ends.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface Inhibitor {
  readonly held: boolean
  take: () => Promise<void>
  /** One call; safe to repeat. */
  release: () => void
}

export function inhibitor(command: string, busAddress: string, failed: (err: Error) => void): Inhibitor {
  let child: ChildProcess | undefined
  const what = ['--what=sleep:shutdown', '--mode=delay', '--who=drover', '--why=servers are being moved away', 'cat']
  return {
    get held() {
      return child !== undefined
    },
    async take() {
      if (child !== undefined) return
      const started = spawn(command, what, {
        stdio: ['pipe', 'ignore', 'pipe'],
        env: { PATH: '/usr/bin:/bin', DBUS_SYSTEM_BUS_ADDRESS: busAddress }
      })
      child = started
      let said = ''
      started.stderr?.on('data', chunk => (said += String(chunk)))
      started.on('error', failed)
      started.on('exit', code => {
        if (child !== started) return // it was released
        child = undefined
        failed(new Error(`the shutdown lock was lost (${command}: ${said.trim() || code})`))
      })
      await once(started, 'spawn').catch(() => {
        child = undefined // told by 'error'
      })
    },
    release() {
      const held = child
      child = undefined
      held?.stdin?.end()
    }
  }
}
