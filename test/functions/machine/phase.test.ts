// P1: the whole phase table of §5.6. Pure.
import t from 'tap'
import { phase, type Phase, type PhaseFacts } from '../../../functions/machine/phase.ts'
import { vm } from './fixtures.ts'

// [printableStatus, never ran, ran before]; undefined: unchanged
const table: Array<[string, Phase | undefined, Phase | undefined]> = [
  ['Provisioning', 'Creating', 'Stopped'],
  ['Starting', 'Creating', 'Stopped'],
  ['WaitingForVolumeBinding', 'Creating', 'Stopped'],
  ['Running', 'Running', 'Running'],
  ['Migrating', 'Running', 'Running'],
  ['Paused', 'Running', 'Running'],
  ['Stopping', 'Stopped', 'Stopped'],
  ['Stopped', 'Stopped', 'Stopped'],
  ['CrashLoopBackOff', 'Failed', 'Failed'],
  ['DataVolumeError', 'Failed', 'Failed'],
  ['ErrorPvcNotFound', 'Failed', 'Failed'],
  ['ErrImagePull', 'Failed', 'Failed'],
  ['ImagePullBackOff', 'Failed', 'Failed'],
  ['ErrorUnschedulable', 'Creating', 'Stopped'],
  ['Terminating', undefined, undefined],
  ['Unknown', undefined, undefined],
  ['WaitingForReceiver', undefined, undefined]
]
const facts: Omit<PhaseFacts, 'vm'> = { before: 'Creating', ranBefore: false, refused: false, graceOver: false }

t.test('P1: every cell of the table', async t => {
  for (const [state, never, ran] of table) {
    t.equal(phase({ ...facts, vm: vm(state) }), never ?? 'Creating', `${state}, never ran`)
    t.equal(phase({ ...facts, before: 'Running', ranBefore: true, vm: vm(state) }), ran ?? 'Running', `${state}, ran before`)
    const failing = vm(state, [{ type: 'Failure', status: 'True' }])
    t.equal(phase({ ...facts, vm: failing }), 'Failed', `${state} with Failure`)
  }
  t.equal(phase({ ...facts, vm: vm('ErrorUnschedulable'), graceOver: true }), 'Failed', 'P2')
  t.equal(phase({ ...facts, ranBefore: true, vm: vm('ErrorUnschedulable'), graceOver: true }), 'Failed')
  t.equal(phase({ ...facts, vm: vm('Stopped', [], false) }), 'Creating', 'K12: nobody has seen the VM yet')
  t.equal(phase({ ...facts, before: undefined, vm: undefined }), 'Pending', 'no VM yet')
  t.equal(phase({ ...facts, vm: undefined }), 'Creating')
  t.equal(phase({ ...facts, ranBefore: true, before: 'Running', vm: undefined }), 'Stopped', 'being made again')
  t.equal(phase({ ...facts, before: 'Failed', vm: vm('Running') }), 'Running', 'P3: Failed is left')
  t.equal(phase({ ...facts, refused: true, vm: vm('Running') }), 'Failed', 'T1')
})
