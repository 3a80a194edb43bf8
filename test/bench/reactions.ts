// From what breaks to what is done about it: real QEMUs with the agent, a real switch with its agent and a real Nova, and a storm of faults.
// Each part can be left out, or made short for a try, by the environment: REACTIONS=servers,links,storm,tick KILLS=20 CUTS=20 STORM_SECONDS=60
import { guests } from './reactions/servers.ts'
import { links } from './reactions/links.ts'
import { storm } from './reactions/storm.ts'
import { tick } from './reactions/tick.ts'
import type { Report } from './report.ts'

export const name = 'reactions'

const parts: Readonly<Record<string, (report: Report) => Promise<void>>> = { servers: guests, links, storm, tick }

export async function run(report: Report): Promise<void> {
  const wanted = (process.env['REACTIONS'] ?? Object.keys(parts).join()).split(',')
  for (const part of wanted) {
    const measure = parts[part]
    if (!measure) throw new Error(`no part named ${part}; there are ${Object.keys(parts).join(', ')}`)
    await measure(report)
  }
}
