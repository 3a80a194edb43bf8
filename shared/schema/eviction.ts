import type { Told } from './conditions.ts'
import { crd, reasonOf, type Resource } from './crd.ts'
import { evictionOptions } from './eviction-options.ts'
import { evictionStatus } from './eviction-status.ts'
import { duration, flag, list, object, rule, text, word } from './vocabulary.ts'

const spec = object(
  'What to do',
  {
    hypervisor: text('Name of the Hypervisor to empty', { minLength: 1, rules: [rule('self == oldSelf', 'Value is immutable')] }),
    reason: text('Why, as free text', { minLength: 1 }),
    mode: word('A planned drain, or the evacuation of a dead host', ['drain', 'evacuate']),
    ...evictionOptions,
    timeout: duration('How long the whole eviction may take'),
    onTimeout: word('What happens to a move at its limit', ['abort', 'forceComplete']),
    targetHosts: list('Hosts that servers may go to; the scheduler still has its say', text('Host name', { minLength: 1 })),
    requireCapacity: flag('Whether missing capacity stops the eviction'),
    dryRun: flag('Plan only'),
    reenable: flag('Enable the host at the end'),
    paused: flag('Start no further move'),
    cancel: word('Stop: let running moves finish, or abort them', ['', 'Finish', 'Abort']),
    retryToken: text('A changed token restarts a finished eviction')
  },
  {
    required: ['hypervisor', 'reason'],
    rules: [
      // On the object, so that giving or taking away the field is seen too.
      rule("(has(self.mode) ? self.mode : 'drain') == (has(oldSelf.mode) ? oldSelf.mode : 'drain')", 'mode is immutable', '.mode')
    ]
  }
)

export const Eviction = crd({
  group: 'kvm.cloud.sap',
  version: 'v1',
  kind: 'Eviction',
  plural: 'evictions',
  shortNames: ['evi'],
  scope: 'Cluster',
  description: 'The order to empty a host',
  columns: [
    { name: 'Hypervisor', jsonPath: '.spec.hypervisor' },
    { name: 'Reason', jsonPath: '.spec.reason' },
    reasonOf('State', 'Evicting'),
    { name: 'Created', jsonPath: '.metadata.creationTimestamp', type: 'date' },
    { name: 'Done', jsonPath: '.status.progress.done', type: 'integer', priority: 1 },
    { name: 'Failed', jsonPath: '.status.progress.failed', type: 'integer', priority: 1 },
    { name: 'ETA', jsonPath: '.status.eta', priority: 1 } // a string: kubectl shows a date to come as <invalid>
  ],
  specRequired: false,
  spec,
  status: evictionStatus
})
export type Eviction = Resource<typeof Eviction>

export interface EvictionConditions {
  Evicting: { True: 'Running'; False: 'Succeeded' | 'Failed' | 'Cancelled' }
  PreflightChecksSucceeded: { True: 'Succeeded'; False: 'Failed' }
  MigratingInstance: { True: 'Running'; False: 'Succeeded' | 'Failed' }
  HypervisorReEnabled: { True: 'Succeeded'; False: 'Failed' }
  IncomingMigrationsSettled: { True: 'Settled'; False: 'AbortingIncomingMigrations' | 'WaitingForIncomingMigrations' }
}
export type EvictionCondition = Told<EvictionConditions>
