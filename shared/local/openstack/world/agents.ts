// nova-compute as a process: it reports, works, dies and comes back. What it had begun ends with it; what was cast to it meanwhile waits.
import type { Host, World } from './world.ts'

/** When nova-compute last said that it lives; nova/servicegroup/drivers/db.py. */
export const lastReport = ({ clock, pace }: World, { alive, startedMs, reportedMs }: Host): number =>
  alive ? startedMs + Math.floor((clock.now() - startedMs) / pace.report) * pace.report : reportedMs

export const isUp = (world: World, host: Host): boolean =>
  !host.forcedDown && Math.abs(world.clock.now() - lastReport(world, host)) <= world.pace.serviceDown

/** Work of the nova-compute that runs now. It is never done if that process dies before; the returned function calls it off. */
export function work(world: World, host: Host, ms: number, done: () => void): () => void {
  const { run } = host
  return world.clock.after(ms, () => {
    if (host.alive && host.run === run) done()
  })
}

/** A message without an answer: a nova-compute that is dead gets it after its next start. */
export function cast(host: Host, take: () => void): void {
  if (host.alive) take()
  else host.inbox.push(take)
}

/** A message whose sender waits for the answer, for so long. */
export function call(world: World, host: Host, take: () => void, timedOut: () => void): void {
  if (host.alive) take()
  else world.clock.after(world.pace.call, timedOut)
}

export function killAgent(world: World, host: Host): void {
  host.reportedMs = lastReport(world, host)
  host.alive = false
  host.run++
}
