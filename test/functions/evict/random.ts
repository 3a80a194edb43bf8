// One seeded life of a drain: users, faults, dying and competing processes, in any order. What must hold is checked after every step.
import { fakeAction } from './user.ts'
import type { Drain } from './world.ts'

/** mulberry32: small, and the same everywhere. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const terminal = new Set(['completed', 'done', 'confirmed', 'reverted', 'cancelled', 'failed', 'error'])

/** Undefined, or what is wrong. */
export function broken({ fake, eviction, clock }: Drain): string | undefined {
  const { world } = fake
  // EV-12a: what a nova-compute that died left open is no move
  const isDead = ({ type, updatedMs, createdMs }: (typeof world.migrations)[number]): boolean =>
    type !== 'evacuation' && clock.now() - (updatedMs ?? createdMs) > 10 * 60_000
  for (const { id, host } of world.instances.values()) {
    // a record is closed a little after its server arrived, and its user may then move it on: that is not a second move of the first
    const open = world.migrations.filter(
      record =>
        record.instance.id === id &&
        record.source === host &&
        !terminal.has(record.status) &&
        record.status !== 'finished' &&
        !isDead(record)
    )
    if (open.length > 1) return `two moves of ${id} at once`
    if (eviction.status?.verdict === 'Succeeded' && host === 'hv1') return `called empty, but ${id} is there`
  }
  if (eviction.status?.verdict === 'Succeeded') {
    const coming = world.migrations.find(
      record => [record.source, record.target].includes('hv1') && !terminal.has(record.status) && !isDead(record)
    )
    if (coming) return `called empty, but the migration ${coming.id} is ${coming.status}`
  }
  for (const { id, attempts = 0, state } of eviction.status?.instances ?? []) {
    if (attempts > 4) return `${id} was tried ${attempts} times` // three, and one that did not count
    if (state === 'Done' && world.instances.get(id)?.host === 'hv1' && eviction.status?.verdict !== undefined)
      return `${id} is told to have moved`
  }
  return undefined
}

/** What a process misses that is held up after its look: time, people, other processes. */
async function busyWhile(drain: Drain, random: () => number): Promise<void> {
  for (let at = 0; at < 3; at++) {
    drain.clock.advance(Math.floor(random() * 8000))
    if (random() < 0.5) await drain.pass({ deps: drain.newProcess() })
    const [instance] = drain.fake.world.instances.values()
    if (instance && random() < 0.5) await fakeAction(drain.fake, instance.id, random() < 0.5 ? 'revertResize' : 'migrate')
  }
}

/** A source that starts ends the record of an evacuation under way (HA-43), which rescues do not know yet: there it dies and starts only while idle. */
function mayDie({ fake: { world }, eviction }: Drain, host: string): boolean {
  if (eviction.spec.mode !== 'evacuate') return true
  const moves = world.migrations.some(
    ({ source, target, status }) => (source === host || target === host) && !terminal.has(status)
  )
  return !moves && [...world.instances.values()].every(instance => instance.host !== host || instance.taskState === null)
}

/** One random step of the world or of the engine. */
export async function step(drain: Drain, random: () => number): Promise<string> {
  const { fake, clock } = drain
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
  const roll = random()
  if (roll < 0.35) {
    const ms = Math.floor(random() ** 3 * 30_000)
    clock.advance(ms)
    return `+${ms} ms`
  }
  if (roll < 0.65) {
    await drain.pass()
    return 'pass'
  }
  if (roll < 0.72) {
    await drain.pass({ lose: true, deps: drain.newProcess() })
    drain.deps = drain.newProcess()
    return 'a process dies before it writes'
  }
  if (roll < 0.78) {
    const both = [drain.pass({ deps: drain.newProcess() }), drain.pass({ deps: drain.newProcess() })]
    await Promise.all(both)
    return 'two processes at once'
  }
  if (roll < 0.8) {
    await drain.pass({ deps: drain.newProcess(), meanwhile: () => busyWhile(drain, random) })
    return 'a process is held up before it writes'
  }
  if (roll < 0.83) {
    const effect = pick([
      { lose: 'answer' },
      { lose: 'request' },
      { answer: { status: 503 } },
      { answer: { status: 409 } }
    ] as const) ?? { lose: 'answer' }
    fake.faults.add({
      service: 'compute',
      times: 1 + Math.floor(random() * 3),
      effect,
      ...(random() < 0.5 && { method: 'POST' })
    })
    return 'fault'
  }
  if (roll < 0.87) {
    const host = fake.host(pick(['hv1', 'hv2', 'hv3']) ?? 'hv1')
    Object.assign(
      host,
      pick([
        { liveMoveFails: true },
        { liveMoveFails: false },
        { liveMoveMs: 20_000 },
        { liveMoveMs: 50 },
        { liveMoveLimit: 1 },
        { liveMoveLimit: 0 }
      ])
    )
    return 'a host changes'
  }
  if (roll < 0.89) {
    const host = pick(['hv1', 'hv2', 'hv3']) ?? 'hv2'
    if (!mayDie(drain, host)) return `agent of ${host} is busy`
    if (!fake.host(host).alive) fake.startAgent(host)
    else if (random() < 0.5) fake.stopAgent(host)
    else fake.killAgent(host)
    return `agent of ${host}`
  }
  const instance = pick([...fake.world.instances.values()])
  if (!instance) return 'nobody left'
  const action =
    pick([
      'delete',
      'os-stop',
      'os-start',
      'pause',
      'unpause',
      'suspend',
      'resume',
      'reboot',
      'shelve',
      'lock',
      'os-resetState',
      'os-migrateLive',
      'migrate',
      'confirmResize',
      'revertResize',
      'abort'
    ]) ?? 'reboot'
  await fakeAction(fake, instance.id, action)
  return `${action} ${instance.name}`
}
