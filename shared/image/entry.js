// What the image starts. The first argument names the function or the agent: `args: [hypervisor]`, `args: [hypervisor-agent]`.
import { existsSync, readdirSync } from 'node:fs'

const folder = import.meta.dirname
const name = process.argv[2] ?? ''

if (/^[a-z][a-z-]*$/.test(name) && existsSync(`${folder}/${name}.js`)) await import(`./${name}.js`)
else {
  const names = readdirSync(folder).flatMap(file =>
    file.endsWith('.js') && file !== 'drover.js' ? [file.slice(0, -'.js'.length)] : []
  )
  const help = name === '--help'
  const to = help ? process.stdout : process.stderr
  to.write(`the first argument is one of ${names.join(', ')}\n`)
  if (!help) process.exitCode = 1
}
