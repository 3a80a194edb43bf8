// What the whole installation costs when nothing happens: Drover's own processes, and Knative's sidecar in each function's pod.
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../../knative-cluster/world.ts'
import { cpuSeconds, proportional } from './processes.ts'

const seconds = Number(process.env['IDLE_SECONDS'] ?? 45)

export interface Cost {
  processes: number
  /** Part of a core, in per cent. */
  cpu: number
  /** Megabytes; what several share is counted once. */
  memory: number
}

export async function idle({ cluster }: World): Promise<{ drover: Cost; sidecars: Cost }> {
  await sleep(seconds * 1000) // what happened before comes to rest
  const watched = [await cluster.processes('/bin/node'), await cluster.processes('/ko-app/queue')]
  const sum = async (pids: readonly number[], figure: (pid: number) => Promise<number>) => {
    const all = await Promise.all(pids.map(pid => figure(pid).catch(() => 0))) // one that ended has no more to say
    return all.reduce((one, other) => one + other, 0)
  }
  const used = () => Promise.all(watched.map(pids => sum(pids, cpuSeconds)))
  const before = await used()
  await sleep(seconds * 1000)
  const after = await used()
  const costs = await Promise.all(
    watched.map(async (pids, n) => ({
      processes: pids.length,
      cpu: (100 * ((after[n] ?? 0) - (before[n] ?? 0))) / seconds,
      memory: await sum(pids, proportional)
    }))
  )
  const [drover, sidecars] = costs as [Cost, Cost]
  return { drover, sidecars }
}
