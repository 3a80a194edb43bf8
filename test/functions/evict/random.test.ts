// EV-9…EV-23 under everything at once: users, faults, dying and competing processes. Never two moves of one server, never "Succeeded" with a server left.
// shards: 8
import t from 'tap'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { validate } from '../../../shared/schema/validate.ts'
import { many } from '../../many.ts'
import { ofThisShard } from '../../shard.ts'
import { broken, randomOf, step } from './random.ts'
import { drain } from './world.ts'

const steps = 30

async function live(seed: number, verdicts: Map<string, number>): Promise<string | undefined> {
  const random = randomOf(seed)
  const strategy = random() < 0.8 ? 'auto' : 'cold'
  const dead = random() < 0.15 // every seventh host is not drained but rescued
  const drained = await drain(
    { strategy, ...(random() < 0.2 && { maxParallel: 1 }), ...(dead && { mode: 'evacuate' }) },
    { pace: { coldMove: 3000, power: 1500, remove: 1000, settle: 300, schedule: 200, evacuate: 2000, report: 1, serviceDown: 0 } }
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
      if (!fake.host(host).alive && !(dead && host === 'hv1')) fake.startAgent(host)
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

t.setTimeout(900_000) // all shards in one process

t.test('each drain ends as it says, whatever happens meanwhile', async t => {
  const shard = ofThisShard(Array.from({ length: 500 }, (_, n) => n + 1))
  const seeds = shard.slice(0, many(shard.length))
  const wrong: string[] = []
  const verdicts = new Map<string, number>()
  for (const seed of seeds) {
    const found = await live(seed, verdicts)
    if (found) wrong.push(found)
    if (wrong.length === 3) break
  }
  t.strictSame(wrong, [])
  t.comment([...verdicts].map(([verdict, count]) => `${verdict} ${count}`).join(', '))
  t.ok((verdicts.get('Succeeded') ?? 0) > seeds.length / 10, 'and not because nothing ever succeeds')
})
