// What holds on every broker class.
import type { Test } from 'tap'
import { agents, type Lab } from './agents.ts'
import { functionKilled, refusedForGood, unavailable } from './faults.ts'
import { fromZero, traced } from './hosts.ts'
import type { World } from './world.ts'

export async function endToEnd(t: Test, world: World, lab: Lab): Promise<void> {
  await t.test('a Node becomes a Hypervisor: the function is woken from zero', t => fromZero(t, world))
  await t.test('traces lead from the cluster agent to the function', t => traced(t, world))
  await t.test('503 for a while: tried again, then fine', t => unavailable(t, world))
  await t.test('422: never again', t => refusedForGood(t, world))
  await t.test('a function is killed in the middle of its work', t => functionKilled(t, world))
  await t.test('agents on a real libvirtd and a real Open vSwitch', t => agents(t, world, lab))
}
