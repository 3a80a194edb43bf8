// What a fleet at rest costs: the fast tick, which looks for what time alone may move on, on a thousand hosts with fifty servers each.
import { tick as tickKind } from '../../../shared/events/knative.ts'
import { closing } from '../lib/closing.ts'
import { atMost, type Figures, type Report } from '../lib/figures.ts'
import { cpuSeconds, megabytesAsMib, residentMib } from '../lib/processes.ts'
import { calm, plant } from './plant.ts'

const count = Number(process.env['TICK_HOSTS'] ?? 1000)
const ticks = 12

const fleet = `${count} hosts of 50 servers`
export const figures: Figures = {
  'reactions.tick.p50': { unit: 'ms for a fast tick', of: 'p50', note: fleet },
  'reactions.tick.cpu.function': { unit: 'ms of CPU for a tick', note: 'every ten seconds' },
  'reactions.tick.cpu.control-plane': { unit: 'ms of CPU for a tick', note: 'every ten seconds' },
  'reactions.tick.resident': { unit: 'MiB', of: 'max', goal: atMost(megabytesAsMib(128)), note: '128 MB at most' }
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const hosts = Array.from({ length: count }, (_, n) => `hv${n}`)
    const { url, pid, served, note } = await plant(t, hosts, 50, 'running')
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
    const resident: number[] = []
    for (let n = 1; n <= ticks; n++) {
      const from = performance.now()
      await post(n)
      times.push(performance.now() - from)
      resident.push(await residentMib(pid))
    }
    const after = [cpuSeconds(pid), served()]
    report('reactions.tick.p50', times, { note })
    for (const [n, which] of ['function', 'control-plane'].entries())
      report(`reactions.tick.cpu.${which}`, (((after[n] ?? 0) - (before[n] ?? 0)) / ticks) * 1000, { note })
    report('reactions.tick.resident', resident, { note })
  })
