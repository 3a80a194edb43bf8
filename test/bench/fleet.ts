// 1,000 hosts with 50 servers each on the local platform: memory, events a second, and how much faster than real time an hour of it runs.
// FLEET_HOSTS, FLEET_VMS and FLEET_MINUTES make it smaller, to see that it works.
import { startPlatform } from '../../shared/local/platform.ts'
import { perform } from '../../shared/local/fleet/actions/perform.ts'
import { seeded } from '../../shared/local/fleet/random.ts'
import { startVirtualTime } from '../local/fleet/virtual-time.ts'
import { realNow } from '../local/fleet/virtual-timers.ts'
import { measurePage, pageFigures } from './fleet/page.ts'
import { atLeast, type Figures, type Report } from './lib/figures.ts'
import { mib } from './lib/processes.ts'

const size = (variable: string, byDefault: number): number => Number(process.env[variable] ?? byDefault)
const everyMs = 15_000 // between two things that happen to the fleet
const [hosts, vms, minutes] = [size('FLEET_HOSTS', 1000), size('FLEET_VMS', 50), size('FLEET_MINUTES', 60)]

export const figures: Figures = {
  'fleet.up': { unit: 's', note: `${hosts} hosts of ${vms} servers` },
  'fleet.speed': { unit: '× real time', goal: atLeast(10), note: `${minutes} minutes of fleet life` },
  'fleet.events': { unit: 'handled/s' },
  'fleet.memory': { unit: 'MiB' },
  'fleet.refused': { unit: 'actions', note: 'that the fleet refused: a server on the move has no watchdog' },
  ...pageFigures
}

export async function run(report: Report): Promise<void> {
  const time = startVirtualTime({ stepMs: 1000 })
  let events = 0
  let refused = 0
  const logs = { write: (line: string) => void (events += line.includes('"outcome"') ? 1 : 0) }
  const started = realNow()
  const starting = startPlatform({ fleet: { hosts, zones: 3, vms, seed: 1 }, logs })
  try {
    const platform = await time.during(starting)
    const { fleet } = await time.during(platform.fleet ?? Promise.reject(new Error('no fleet')))
    await time.during(fleet.complete)
    report('fleet.up', (realNow() - started) / 1000)
    await time.advance(60_000) // everybody comes into service
    const random = seeded(2)
    const servers = [...fleet.cloud.world.instances.keys()]
    const [begun, before] = [realNow(), events]
    let unplugged = ''
    for (let at = 0; at < minutes * 60_000; at += everyMs) {
      await perform(fleet, 'fire-watchdog', { vm: random.pick(servers) }).catch(() => refused++)
      if (at % (2 * everyMs) === 0)
        await perform(fleet, 'pull-cable', { host: (unplugged = random.pick([...fleet.hosts.keys()])) })
      else await perform(fleet, 'plug-cable', { host: unplugged })
      await time.advance(everyMs)
    }
    const seconds = (realNow() - begun) / 1000
    report('fleet.speed', (minutes * 60) / seconds)
    report('fleet.events', (events - before) / seconds)
    report('fleet.memory', mib(process.memoryUsage.rss()))
    report('fleet.refused', refused)
  } finally {
    await time.during(starting.then(platform => platform.close()))
    time.end()
  }
  await measurePage(report) // in real time
}
