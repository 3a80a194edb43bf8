// What a fleet at rest costs: the fast tick, which looks for what time alone may move on, on a thousand hosts with fifty servers each.
import type { Test } from 'tap'
import { tick as tickKind } from '../../../shared/events/knative.ts'
import { closing } from '../evict/served.ts'
import { percentile } from '../knative/percentile.ts'
import { megabytes } from '../knative/processes.ts'
import { cpuSeconds } from '../lib/cpu.ts'
import type { Report } from '../report.ts'
import { calm, plant } from './plant.ts'

const count = Number(process.env['TICK_HOSTS'] ?? 1000)
const ticks = 12

export const tick = (report: Report): Promise<void> =>
  closing(async given => {
    const hosts = Array.from({ length: count }, (_, n) => `hv${n}`)
    const { url, pid, served } = await plant(given as Test, hosts, 50, 'running')
    const post = async (n: number): Promise<void> => {
      const headers = { 'content-type': 'application/json', 'ce-specversion': '1.0', 'ce-id': `tick-${n}`, 'ce-source': '/bench' }
      const body = JSON.stringify({ tick: 'fast' })
      const { status } = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'ce-type': tickKind.type, 'ce-tick': 'fast' },
        body
      })
      if (status !== 204) throw new Error(`the tick was answered with ${status}`)
    }
    await calm(served)
    await post(0)
    await calm(served) // from then on a watch keeps the list
    const before = [cpuSeconds(pid), served()]
    const times: number[] = []
    let resident = 0
    for (let n = 1; n <= ticks; n++) {
      const from = performance.now()
      await post(n)
      times.push(performance.now() - from)
      resident = Math.max(resident, await megabytes(pid))
    }
    const after = [cpuSeconds(pid), served()]
    report({ name: 'reactions.tick.p50', ours: percentile(times, 50), unit: `ms for a fast tick, ${count} hosts of 50 servers` })
    for (const [n, who] of ['function', 'control-plane'].entries())
      report({
        name: `reactions.tick.cpu.${who}`,
        ours: (((after[n] ?? 0) - (before[n] ?? 0)) / ticks) * 1000,
        unit: 'ms of CPU for a tick, every ten seconds'
      })
    report({ name: 'reactions.tick.resident', ours: resident, goal: { atMost: 128 }, unit: 'MB at most' })
  })
