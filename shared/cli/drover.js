#!/usr/bin/env node
// Plain JavaScript, since the Node that starts this may be too old for the rest: it hands over to one that is not.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..')
const needed = 24
const isNew = Number(process.versions.node.split('.')[0]) >= needed
const own = join(root, 'node_modules', '.bin', 'node') // comes with npm install, as a dependency
if (!isNew && !existsSync(own)) {
  process.stderr.write(
    `drover: needs Node ${needed} or later, and this is ${process.versions.node}: install it, or run npm install in ${root}\n`
  )
  process.exit(2)
}
// On a terminal Ctrl-C reaches both, and it is for the other one to end well. What is sent to this one alone is handed on; listening
// begins before there is somebody to hand it to, so that nothing is missed.
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
const child = spawn(
  isNew ? process.execPath : own,
  ['--disable-warning=ExperimentalWarning', '--conditions=drover', join(here, 'main.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit' }
)
child.on('error', err => {
  process.stderr.write(`drover: ${err.message}\n`)
  process.exitCode = 2
})
child.on('close', (code, signal) => {
  process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
})
