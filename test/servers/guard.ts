// Parent of the servers of a test run. It lives as long as its standard input: when the runner ends, however it ends, the pipe closes,
// every server is killed and the folder removed. Commands and answers are JSON lines.
import { spawn, type ChildProcess } from 'node:child_process'
import { openSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

export type Command = { start: string; command: string[]; log: string } | { kill: string; signal: NodeJS.Signals }
export type Answer = { started: string; pid: number } | { exited: string; code: number | null }

const [folder] = process.argv.slice(2) as [string]
const children = new Map<string, ChildProcess>()
const tell = (answer: Answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)

function start(name: string, [program, ...args]: string[], log: string): void {
  const file = openSync(log, 'a')
  const child = spawn(program as string, args, { stdio: ['ignore', file, file] })
  children.set(name, child)
  child.on('spawn', () => tell({ started: name, pid: child.pid as number }))
  child.on('error', () => tell({ exited: name, code: -1 }))
  child.on('exit', code => {
    children.delete(name)
    tell({ exited: name, code })
  })
}

process.stdout.on('error', () => {}) // the runner is gone: the end of standard input follows and ends us too
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
for await (const line of createInterface(process.stdin)) {
  const command = JSON.parse(line) as Command
  if ('start' in command) start(command.start, command.command, command.log)
  else children.get(command.kill)?.kill(command.signal)
}
const gone = [...children.values()].map(child => new Promise(resolve => child.once('exit', resolve)))
for (const child of children.values()) child.kill('SIGKILL')
await Promise.all(gone)
rmSync(folder, { recursive: true, force: true })
