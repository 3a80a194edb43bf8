// npm run bench [-- NAME…] [--json] [--busy] [--rounds N]: every other file of this folder is a bench of its name.
import { readdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { Bench, Row } from './lib/figures.ts'
import { isBusy, loadText, machineLoad } from './lib/machine-load.ts'
import { exitCodeOf, runBench, summaryOf, tableOf } from './lib/run.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    /** Goes on although others use the machine; each figure is marked. */
    busy: { type: 'boolean', default: false },
    rounds: { type: 'string' }
  }
})

const files = await readdir(import.meta.dirname)
const known = files.filter(file => file.endsWith('.ts') && file !== 'main.ts').map(file => file.slice(0, -3))
const unknown = positionals.filter(name => !known.includes(name))
const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
if (unknown.length > 0 || (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))) {
  console.error(
    unknown.length > 0 ? `no bench named ${unknown.join(', ')}; there are ${known.join(', ')}` : '--rounds wants a number'
  )
  process.exit(2)
}

const all: Row[] = []
for (const name of positionals.length > 0 ? positionals : known) {
  const load = await machineLoad()
  const busy = isBusy(load)
  const refused = busy && !values.busy ? `the machine is busy, ${loadText(load)}; --busy measures all the same` : undefined
  const rows = await runBench(name, () => import(`./${name}.ts`) as Promise<Bench>, { rounds, refused })
  all.push(...rows)
  if (values.json) for (const row of rows) console.log(JSON.stringify({ ...row, busy, load: load.average }))
  else console.log(`\n${name}: ${loadText(load)}\n${tableOf(rows, { busy })}`)
}
if (!values.json) console.log(`\n${summaryOf(all)}`)
process.exit(exitCodeOf(all)) // a bench that crashed may have left something open
