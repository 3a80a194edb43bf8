// From what breaks to what is done about it: real QEMUs with the agent, a real switch with its agent and a real Nova, and a storm of faults.
// Each part can be left out, or made short for a try, by the environment: REACTIONS=servers,links,storm,tick KILLS=20 CUTS=20 STORM_SECONDS=60
import type { Bench, Figures, Report } from './lib/figures.ts'
import * as links from './reactions/links.ts'
import * as servers from './reactions/servers.ts'
import * as storm from './reactions/storm.ts'
import * as tick from './reactions/tick.ts'

const parts: Readonly<Record<string, Bench>> = { servers, links, storm, tick }
const chosen = (process.env['REACTIONS'] ?? Object.keys(parts).join()).split(',').map(name => {
  const part = parts[name]
  if (!part) throw new Error(`no part named ${name}; there are ${Object.keys(parts).join(', ')}`)
  return part
})

export const figures: Figures = Object.assign({}, ...chosen.map(part => part.figures))

/** A part that fails leaves the others their figures. */
export async function run(report: Report): Promise<void> {
  const errors: unknown[] = []
  for (const part of chosen) await part.run(report).catch((err: unknown) => void errors.push(err))
  if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('; '))
}
