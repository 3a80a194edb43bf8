// EV-9…EV-23 under everything at once: users, faults, dying and competing processes. Never two moves of one server, never "Succeeded" with a server left.
import type { Test } from 'tap'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { validate } from '../../../shared/schema/validate.ts'
import { many } from '../../many.ts'
import { broken, randomOf, step } from './random.ts'
import { drain } from './world.ts'

const steps = 30

async function live(seed: number, verdicts: Map<string, number>): Promise<string | undefined> {
  const random = randomOf(seed)
  const strategy = random() < 0.8 ? 'auto' : 'cold'
  const dead = random() < 0.15 // every seventh host is not drained but rescued
  const drained = await drain(
    { strategy, ...(random() < 0.2 && { maxParallel: 1 }), ...(dead && { mode: 'evacuate' }) },
    { pace: { coldMove: 3000, power: 1500, remove: 1000, settle: 300, schedule: 200, evacuate: 2000 } }
  )
  const trail: string[] = []
  try {
    const { fake, clock } = drained
    fake.host('hv1').liveMoveMs = Math.floor(random() * 10_000)
    const count = 1 + Math.floor(random() * 7)
    for (let at = 0; at < count; at++) fake.addServer({ name: `s${at}`, host: random() < 0.8 ? 'hv1' : 'hv2' })
    const kill = (): void => {
      if (fake.host('hv1').alive) fake.stopAgent('hv1')
      fake.host('hv1').forcedDown = true
    }
    if (dead) kill()
    const check = (): string | undefined => {
      const wrong = broken(drained)
      return wrong && `seed ${seed}: ${wrong}\n  ${trail.join('\n  ')}`
    }
    for (let at = 0; at < steps; at++) {
      trail.push(await step(drained, random))
      const wrong = check()
      if (wrong) return wrong
    }
    // the world calms down: the engine must come to a verdict, and it must be true
    fake.faults.clear()
    for (const host of ['hv1', 'hv2', 'hv3']) {
      Object.assign(fake.host(host), { liveMoveFails: false, liveMoveMs: 100, liveMoveLimit: 0 })
      if (!fake.host(host).alive) fake.startAgent(host)
    }
    if (dead) kill()
    const untilMs = clock.now() + 4 * 3_600_000
    while (drained.eviction.status?.verdict === undefined && clock.now() < untilMs) {
      const { nextCheckMs } = await drained.pass()
      const wrong = check()
      if (wrong) return wrong
      clock.advance(Math.max(200, nextCheckMs))
    }
    const { verdict, instances = [], waitingFor } = drained.eviction.status ?? {}
    if (verdict === undefined)
      return `seed ${seed}: no verdict, waiting for ${waitingFor}\n${JSON.stringify(instances, null, 1)}\n  ${trail.join('\n  ')}`
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
    const left = [...fake.world.instances.values()].filter(({ host }) => host === 'hv1').map(({ id }) => id)
    const stuck = instances.filter(({ state }) => state === 'Blocked' || state === 'Failed').map(({ id }) => id)
    if (verdict === 'Incomplete' && left.some(id => !stuck.includes(id)))
      return `seed ${seed}: ${verdict}, but ${left.join()} are left and only ${stuck.join()} told\n  ${trail.join('\n  ')}`
    if (seed % 25 === 0) {
      const wrong = validate(Eviction, drained.eviction)
      if (wrong.length > 0) return `seed ${seed}: the status is refused: ${JSON.stringify(wrong)}`
    }
    if (fake.unexpected.length > 0) return `seed ${seed}: calls that Nova does not know: ${fake.unexpected.join()}`
    return undefined
  } finally {
    await drained.close()
  }
}

/** In eight files, so that they run side by side and none takes long on a slow machine. */
export async function lives(t: Test, first: number, most: number): Promise<void> {
  const count = many(most)
  t.setTimeout(110_000)
  const wrong: string[] = []
  const verdicts = new Map<string, number>()
  for (let seed = first; seed < first + count && wrong.length < 3; seed++) {
    const found = await live(seed, verdicts)
    if (found) wrong.push(found)
  }
  t.strictSame(wrong, [])
  t.comment([...verdicts].map(([verdict, count]) => `${verdict} ${count}`).join(', '))
  t.ok((verdicts.get('Succeeded') ?? 0) > count / 10, 'and not because nothing ever succeeds')
}
