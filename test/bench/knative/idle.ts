// What the whole installation costs when nothing happens: Drover's own processes, and Knative's sidecar in each function's pod.
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../../knative-cluster/world.ts'
import { cpuSeconds, proportionalMib } from '../lib/processes.ts'

const seconds = Number(process.env['IDLE_SECONDS'] ?? 45)

export interface Cost {
  processes: number
  /** Those that ended meanwhile: what they used is in neither figure. */
  ended: number
  /** Part of a core, in per cent. */
  cpu: number
  /** MiB; what several share is counted once. */
  memory: number
}

const cpuOf = (pid: number): number | undefined => {
  try {
    return cpuSeconds(pid)
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw err
  }
}

async function costOf(pids: readonly number[]): Promise<Cost> {
  const before = new Map(pids.map(pid => [pid, cpuOf(pid)]))
  await sleep(seconds * 1000)
  const cost: Cost = { processes: pids.length, ended: 0, cpu: 0, memory: 0 }
  for (const [pid, earlier] of before) {
    const later = cpuOf(pid)
    if (earlier === undefined || later === undefined) cost.ended += 1
    else {
      cost.cpu += (100 * (later - earlier)) / seconds
      cost.memory += await proportionalMib(pid)
    }
  }
  return cost
}

export async function idle({ cluster }: World): Promise<{ drover: Cost; sidecars: Cost }> {
  await sleep(seconds * 1000) // what happened before comes to rest
  const [node, queue] = [await cluster.processes('/bin/node'), await cluster.processes('/ko-app/queue')]
  const [drover, sidecars] = await Promise.all([costOf(node), costOf(queue)])
  return { drover, sidecars }
}
