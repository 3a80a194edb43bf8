// What the whole installation costs when nothing happens but its ticks: Drover's own processes, without the sidecars of Knative.
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../../knative-cluster/world.ts'
import { cpuSeconds, megabytes } from './processes.ts'

const seconds = Number(process.env['IDLE_SECONDS'] ?? 60)

export async function idle({ cluster }: World): Promise<{ cpu: number; memory: number }> {
  await sleep(seconds * 1000) // what the installation itself started comes to rest
  const pids = await cluster.processes('/bin/node')
  const used = async () => {
    const all = await Promise.all(pids.map(pid => cpuSeconds(pid).catch(() => 0))) // one that ended has no more to say
    return all.reduce((sum, one) => sum + one, 0)
  }
  const before = await used()
  await sleep(seconds * 1000)
  const cpu = (100 * ((await used()) - before)) / seconds
  const held = await Promise.all(pids.map(pid => megabytes(pid).catch(() => 0)))
  return { cpu, memory: held.reduce((sum, one) => sum + one, 0) }
}
