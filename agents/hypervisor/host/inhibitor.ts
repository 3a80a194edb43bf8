// A delay lock of logind. It is a file descriptor, which a Node socket cannot receive: `systemd-inhibit` holds it for us, as its own child
// of ours. It lives as long as its standard input is open, so that the lock goes with the agent, however that ends.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Who was refused once is refused again: not so often that it costs something. */
const againMs = 10_000
const refusedMs = 2000

export interface Inhibitor {
  readonly held: boolean
  /** Does nothing for a while after it has failed. */
  take: () => Promise<void>
  /** One call; safe to repeat. */
  release: () => void
}

interface Options {
  command: string
  busAddress: string
  failed: (err: Error) => void
  /** It was not refused: the program would have ended by now. */
  holds: () => void
  nowMs?: () => number
}

export function inhibitor({ command, busAddress, failed, holds, nowMs = () => performance.now() }: Options): Inhibitor {
  let child: ChildProcess | undefined
  let notBefore = -Infinity
  const what = ['--what=sleep:shutdown', '--mode=delay', '--who=drover', '--why=servers are being moved away', 'cat']
  return {
    get held() {
      return child !== undefined
    },
    async take() {
      if (child !== undefined || nowMs() < notBefore) return
      const started = spawn(command, what, {
        stdio: ['pipe', 'ignore', 'pipe'],
        env: { PATH: '/usr/bin:/bin', DBUS_SYSTEM_BUS_ADDRESS: busAddress }
      })
      child = started
      let said = ''
      started.stderr?.on('data', chunk => (said += String(chunk)))
      const lost = (err: Error): void => {
        if (child !== started) return // it was released
        child = undefined
        notBefore = nowMs() + againMs
        failed(err)
      }
      started.on('error', lost)
      started.on('exit', code => lost(new Error(`the shutdown lock was lost (${command}: ${said.trim() || code})`)))
      started.stdin?.on('error', () => {}) // it may end before it is told to: `exit` says so
      setTimeout(() => child === started && holds(), refusedMs).unref()
      await once(started, 'spawn').catch(() => {}) // told by 'error'
    },
    release() {
      const held = child
      child = undefined
      held?.stdin?.end()
    }
  }
}
