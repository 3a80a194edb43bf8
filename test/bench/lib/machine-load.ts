// Whether this machine has the time to be measured on. The load average alone does not say it: it remembers the bench before.
import { loadavg, cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

export interface MachineLoad {
  average: number[]
  /** Cores that were used while we looked. */
  used: number
  cores: number
}

const sampleMs = 2000
const looks = 5
/** Of all cores. */
const idleShare = 0.15

const times = (): { busy: number; all: number } => {
  const total = { busy: 0, all: 0 }
  for (const { times } of cpus()) {
    const all = times.user + times.nice + times.sys + times.irq + times.idle
    total.all += all
    total.busy += all - times.idle
  }
  return total
}

export const isBusy = ({ used, cores }: Pick<MachineLoad, 'used' | 'cores'>): boolean => used > idleShare * cores

async function look(): Promise<MachineLoad> {
  const before = times()
  await sleep(sampleMs)
  const after = times()
  const cores = cpus().length
  return { average: loadavg(), used: (cores * (after.busy - before.busy)) / (after.all - before.all), cores }
}

/** What an earlier bench started may take some seconds to end. */
export async function machineLoad(): Promise<MachineLoad> {
  let load = await look()
  for (let n = 1; n < looks && isBusy(load); n++) load = await look()
  return load
}

export const loadText = ({ average, used, cores }: MachineLoad): string =>
  `load average ${average.map(one => one.toFixed(1)).join(' ')}, ${used.toFixed(1)} of ${cores} cores in use`
