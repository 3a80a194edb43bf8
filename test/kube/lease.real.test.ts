import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { HeldLease, Kube } from '../../shared/kube/index.ts'
import { holdLease, Lease } from '../../shared/kube/index.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { connected, until } from './connected.ts'
import { relay } from './relay.ts'

const api = await kubernetes(t)
const { namespace } = api
const kube = await connected(t, api)
const holderOf = async (name: string) => (await kube.find(Lease, name, namespace))?.spec

interface Contender extends HeldLease {
  leave(): Promise<void>
}

function contend(t: Test, by: Kube, name: string, identity: string): Contender {
  const stop = new AbortController()
  const lease = holdLease(by, { name, namespace, identity, durationMs: 3000, renewMs: 200, signal: stop.signal })
  const leave = () => {
    stop.abort()
    return lease.ended
  }
  t.teardown(leave)
  return {
    get held() {
      return lease.held
    },
    changes: () => lease.changes(),
    ended: lease.ended,
    leave
  }
}

/** Waits, and sees to it that there are never two. */
async function untilHeld(t: Test, who: HeldLease, other: HeldLease): Promise<void> {
  await until(() => {
    if (who.held && other.held) t.fail('two holders at once')
    return who.held
  })
}

t.test('of five contenders one holds it', async t => {
  const five = Array.from({ length: 5 }, (_, index) => contend(t, kube, 'five', `contender-${index}`))
  await until(() => five.some(({ held }) => held))
  t.equal(five.filter(({ held }) => held).length, 1)
  const winner = five.findIndex(({ held }) => held)
  t.match(await holderOf('five'), { holderIdentity: `contender-${winner}`, leaseDurationSeconds: 3, leaseTransitions: 0 })
})

t.test('it is renewed', async t => {
  const one = contend(t, kube, 'renewed', 'one')
  await until(() => one.held)
  const first = await holderOf('renewed')
  await until(async () => (await holderOf('renewed'))?.renewTime !== first?.renewTime)
  const later = await holderOf('renewed')
  t.equal(later?.acquireTime, first?.acquireTime)
  t.equal(later?.leaseTransitions, 0)
})

t.test('who leaves gives it up, and the next has it without waiting for the end of the term', async t => {
  const one = contend(t, kube, 'left', 'one')
  await until(() => one.held)
  const two = contend(t, kube, 'left', 'two')
  const told: boolean[] = []
  const telling = (async () => {
    for await (const held of one.changes()) told.push(held)
  })()
  const left = one.leave()
  t.notOk(one.held, 'at once')
  await left
  t.equal((await holderOf('left'))?.holderIdentity === 'one', false)
  await untilHeld(t, two, one)
  await telling
  t.strictSame(told, [true, false])
  t.match(await holderOf('left'), { holderIdentity: 'two', leaseTransitions: 1 })
})

t.test('who is cut off stops before the other begins, and waits when it is back', async t => {
  const network = await relay(t, api.server)
  const one = contend(t, await connected(t, api, { server: network.server }), 'cut', 'one')
  await until(() => one.held)
  const two = contend(t, kube, 'cut', 'two')
  network.cut()
  await untilHeld(t, two, one)
  t.notOk(one.held)
  network.restore()
  const seen = (await holderOf('cut'))?.renewTime
  await until(async () => (await holderOf('cut'))?.renewTime !== seen)
  t.notOk(one.held)
  t.ok(two.held)
})

t.test('who is frozen out stops before the other begins', async t => {
  const network = await relay(t, api.server)
  const one = contend(t, await connected(t, api, { server: network.server, timeoutMs: 20_000 }), 'frozen', 'one')
  await until(() => one.held)
  network.freeze()
  const two = contend(t, kube, 'frozen', 'two')
  await untilHeld(t, two, one)
  t.notOk(one.held)
  network.cut() // ends the call that still waits
})

t.test('who is killed is followed', async t => {
  const script = join(import.meta.dirname, 'hold-lease.ts')
  const child = spawn(process.execPath, ['--conditions=drover', script, api.kubeconfig, namespace, 'killed', 'child'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const two = contend(t, kube, 'killed', 'two')
  const seen = (await holderOf('killed'))?.renewTime
  await until(async () => (await holderOf('killed'))?.renewTime !== seen)
  t.notOk(two.held)
  child.kill('SIGKILL')
  await until(() => two.held)
  t.match(await holderOf('killed'), { holderIdentity: 'two', leaseTransitions: 1 })
})
