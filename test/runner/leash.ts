// Lives as long as its standard input. The runner tells which process groups it began (`+PID`) and which ended (`-PID`); when the runner
// is gone, however it went, the pipe closes and those that are left are killed.
import { createInterface } from 'node:readline'

const groups = new Set<number>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {}) // the end of standard input tells

for await (const line of createInterface(process.stdin)) {
  const pid = Number(line.slice(1))
  if (line.startsWith('+')) groups.add(pid)
  else groups.delete(pid)
}
for (const pid of groups) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // ended in this moment
  }
}
