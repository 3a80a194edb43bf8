// Runs a command as long as its own standard input is open: when the runner ends, however it ends, the pipe closes and the command is
// killed with all that it started.
import { spawn } from 'node:child_process'

const [command, ...args] = process.argv.slice(2) as [string, ...string[]]
const child = spawn(command, args, { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 1
  process.stdin.destroy()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {}) // the end of standard input tells

process.stdin.resume().on('end', () => {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
})
