import t from 'tap'
import { phase, type Phase } from '../../../functions/hypervisor/phase.ts'
import { ready, type Ready, type View } from '../../../functions/hypervisor/ready.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now } from './fixtures.ts'

const view = (hypervisor: Hypervisor, more: Partial<View> = {}): View => ({
  hypervisor,
  terminating: false,
  now,
  healthGates: true,
  heartbeatStaleMs: 90_000,
  ...more
})
type Status = NonNullable<Hypervisor['status']>
const host = (spec: Partial<Hypervisor['spec']>, conditions: Status['conditions'] = [], status: Partial<Status> = {}) =>
  hypervisor(spec, { numInstances: 0, ...status, conditions: conditions ?? [] })
const onboarded = condition('Onboarding', 'False', 'Succeeded')
const fresh = { agent: { lastHeartbeat: '2026-11-16T11:59:00Z' } }
const stale = { agent: { lastHeartbeat: '2026-11-16T11:58:29Z' } }

// Every rung of §3.3, in order: each case also holds what the rungs below it would find
const cases: Array<[rung: string, given: View, reason: Ready['reason'], phase: Phase]> = [
  [
    '1 offboarded beats terminating',
    view(host({ maintenance: 'termination' }, [condition('Offboarded', 'True', 'Offboarded')]), { terminating: true }),
    'Offboarded',
    'Offboarded'
  ],
  [
    '2 terminating beats onboarding',
    view(host({}, [condition('Onboarding', 'True', 'Testing')]), { terminating: true }),
    'Terminating',
    'Terminating'
  ],
  [
    '2 terminating, draining',
    view(host({ maintenance: 'termination' }, [condition('Evicting', 'True', 'Running')]), { terminating: true }),
    'Terminating',
    'Draining'
  ],
  [
    '2 terminating, offboarding',
    view(host({ maintenance: 'termination' }, [condition('Offboarded', 'False', 'Offboarding')]), { terminating: true }),
    'Terminating',
    'Offboarding'
  ],
  [
    '3 onboarding True beats maintenance',
    view(host({ maintenance: 'auto' }, [condition('Onboarding', 'True', 'Initial')])),
    'Onboarding',
    'Preparing'
  ],
  ['3 any reason: Testing', view(host({}, [condition('Onboarding', 'True', 'Testing')])), 'Onboarding', 'Testing'],
  ['3 any reason: Handover', view(host({}, [condition('Onboarding', 'True', 'Handover')])), 'Onboarding', 'HandingOver'],
  ['3 any reason: Failed', view(host({}, [condition('Onboarding', 'True', 'Failed')])), 'Onboarding', 'Registering'],
  ['3 any reason: unknown', view(host({}, [condition('Onboarding', 'True', 'Novel')])), 'Onboarding', 'Registering'],
  [
    '4 maintenance, evicting',
    view(host({ maintenance: 'manual' }, [onboarded, condition('Evicting', 'True', 'Running')])),
    'Evicting',
    'Draining'
  ],
  [
    '4 maintenance, evicted',
    view(host({ maintenance: 'auto' }, [onboarded, condition('Evicting', 'False')])),
    'Evicted',
    'Drained'
  ],
  [
    '4 maintenance, evicted, offboarding',
    view(host({ maintenance: 'termination' }, [condition('Evicting', 'False'), condition('Offboarded', 'False', 'Blocked')])),
    'Evicted',
    'Offboarding'
  ],
  ['4 maintenance alone', view(host({ maintenance: 'manual' }, [onboarded])), 'Maintenance', 'Maintenance'],
  ['4 maintenance by HA', view(host({ maintenance: 'ha' }, [onboarded])), 'Maintenance', 'Recovering'],
  [
    '4 evacuation',
    view(host({ maintenance: 'ha' }, [onboarded, condition('Evicting', 'True', 'Running')])),
    'Evicting',
    'Recovering'
  ],
  ['5 not registered', view(host({})), 'Onboarding', 'Registering'],
  ['5 lifecycle off', view(host({ lifecycleEnabled: false })), 'Onboarding', 'Discovered'],
  ['5 aborted', view(host({}, [condition('Onboarding', 'False', 'Aborted')])), 'Onboarding', 'Registering'],
  ['5 not succeeded', view(host({}, [condition('Onboarding', 'Unknown', 'Whatever')])), 'Onboarding', 'Registering'],
  ['6 heartbeat older than 90 s', view(host({}, [onboarded], stale)), 'AgentLost', 'Failing'],
  [
    '6 libvirt not connected',
    view(host({}, [onboarded, condition('LibVirtConnection', 'False', 'ConnectFailed')], fresh)),
    'LibVirtDown',
    'Failing'
  ],
  [
    '6 node not ready',
    view(host({}, [onboarded], fresh), { nodeReady: { ready: false, reason: 'kubelet stopped' } }),
    'NodeNotReady',
    'Failing'
  ],
  ['6 Nova service down', view(host({}, [onboarded], { ...fresh, nova: { state: 'down' } })), 'NovaServiceDown', 'Failing'],
  [
    '6 Nova service disabled',
    view(host({}, [onboarded], { nova: { state: 'up', status: 'disabled', disabledReason: 'x' } })),
    'NovaServiceDown',
    'Failing'
  ],
  ['6 switched off', view(host({}, [onboarded], stale), { healthGates: false }), 'Ready', 'Active'],
  ['7 else', view(host({}, [onboarded], fresh), { nodeReady: { ready: true, reason: '' } }), 'Ready', 'Active'],
  ['7 facts that nobody reports hold nothing up (HV-3)', view(host({}, [onboarded])), 'Ready', 'Active']
]
for (const [rung, given, reason, word] of cases) {
  t.test(`rung ${rung}: ${reason}, ${word}`, async t => {
    const verdict = ready(given)
    t.match(verdict, { type: 'Ready', status: reason === 'Ready' ? 'True' : 'False', reason })
    t.not(verdict.message, '')
    t.equal(phase(given.hypervisor, verdict), word)
  })
}

t.test('the step and what is awaited are told', async t => {
  const given = host({}, [condition('Onboarding', 'True', 'Testing')], {
    onboarding: { step: 'smoke test', waitingFor: 'the console' }
  })
  t.equal(ready(view(given)).message, 'smoke test; waiting for the console')
})
