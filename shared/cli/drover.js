#!/usr/bin/env node
// Plain JavaScript, since the Node that starts this may be too old for the rest: it hands over to one that is not.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
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
const { status, signal, error } = spawnSync(
  isNew ? process.execPath : own,
  ['--conditions=drover', join(here, 'main.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit' }
)
if (error) process.stderr.write(`drover: ${error.message}\n`)
process.exit(status ?? (signal ? 130 : 2))
