// HV-8: an Eviction that is only watched, for the whole install or for one host.
import t from 'tap'
import { observeAnnotation } from '../../../shared/kube/observe.ts'
import { left, open, scene } from './scene.ts'

for (const how of ['the install', 'the host'] as const) {
  t.test(`${how} is observed: Nova is asked for nothing, and only fields of our own tell of it`, async t => {
    const drained = await scene(t, 2)
    const { fake, hypervisor, clock } = drained
    if (how === 'the install') drained.deps = { ...drained.deps, observe: true }
    else
      drained.hypervisor = { ...hypervisor, metadata: { ...hypervisor.metadata, annotations: { [observeAnnotation]: 'true' } } }
    const told = (): object => {
      const { phase, waitingFor, ...rest } = drained.eviction.status ?? {}
      for (const shared of ['conditions', 'outstandingRamMb', 'outstandingInstances', 'verdict', 'finishedAt'])
        t.notOk(shared in rest, shared)
      return { phase, waitingFor }
    }
    await drained.pass()
    t.strictSame(told(), { phase: 'Preflight', waitingFor: 'observe mode: would disable' })
    fake.host('hv1').status = 'disabled'
    drained.deps.listings.forget()
    for (let at = 0; at < 5; at++) {
      const { nextCheckMs } = await drained.pass()
      clock.advance(nextCheckMs)
    }
    t.match(told(), { phase: 'Draining', waitingFor: /^observe mode: would live [-\w]+, live [-\w]+$/ })
    t.equal(left(drained).length, 2)
    t.strictSame(open(drained), [])
    fake.world.instances.clear()
    for (let at = 0; at < 3; at++) {
      const { nextCheckMs } = await drained.pass()
      clock.advance(nextCheckMs)
    }
    t.strictSame(told(), { phase: 'Verifying', waitingFor: 'observe mode: would end as Succeeded' })
  })
}
