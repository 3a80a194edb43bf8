// EV-6: the table §4.2 over every status × task × power that Nova can produce.
import t from 'tap'
import { classify } from '../../../functions/evict/classify.ts'
import { around, server } from './server.ts'

// nova/api/openstack/common.py, _STATE_MAP: vm_state → task_state → what a user sees; every other task shows `default`
const shown: Record<string, { default: string; [task: string]: string }> = {
  active: {
    default: 'ACTIVE',
    rebooting: 'REBOOT',
    reboot_pending: 'REBOOT',
    reboot_started: 'REBOOT',
    rebooting_hard: 'HARD_REBOOT',
    reboot_pending_hard: 'HARD_REBOOT',
    reboot_started_hard: 'HARD_REBOOT',
    updating_password: 'PASSWORD',
    rebuilding: 'REBUILD',
    rebuild_block_device_mapping: 'REBUILD',
    rebuild_spawning: 'REBUILD',
    migrating: 'MIGRATING',
    resize_prep: 'RESIZE',
    resize_migrating: 'RESIZE',
    resize_migrated: 'RESIZE',
    resize_finish: 'RESIZE'
  },
  building: { default: 'BUILD' },
  stopped: {
    default: 'SHUTOFF',
    resize_prep: 'RESIZE',
    resize_migrating: 'RESIZE',
    resize_migrated: 'RESIZE',
    resize_finish: 'RESIZE',
    rebuilding: 'REBUILD',
    rebuild_block_device_mapping: 'REBUILD',
    rebuild_spawning: 'REBUILD'
  },
  resized: { default: 'VERIFY_RESIZE', resize_reverting: 'REVERT_RESIZE' },
  paused: { default: 'PAUSED', migrating: 'MIGRATING' },
  suspended: { default: 'SUSPENDED' },
  rescued: { default: 'RESCUE' },
  error: { default: 'ERROR', rebuilding: 'REBUILD', rebuild_block_device_mapping: 'REBUILD', rebuild_spawning: 'REBUILD' },
  deleted: { default: 'DELETED' },
  'soft-delete': { default: 'SOFT_DELETED' },
  shelved: { default: 'SHELVED' },
  shelved_offloaded: { default: 'SHELVED_OFFLOADED' }
}
// nova/compute/task_states.py
const tasks = [
  null,
  'scheduling',
  'block_device_mapping',
  'networking',
  'spawning',
  'image_snapshot',
  'image_snapshot_pending',
  'image_pending_upload',
  'image_uploading',
  'image_backup',
  'updating_password',
  'resize_prep',
  'resize_migrating',
  'resize_migrated',
  'resize_finish',
  'resize_reverting',
  'resize_confirming',
  'rebooting',
  'reboot_pending',
  'reboot_started',
  'rebooting_hard',
  'reboot_pending_hard',
  'reboot_started_hard',
  'pausing',
  'unpausing',
  'suspending',
  'resuming',
  'powering-off',
  'powering-on',
  'rescuing',
  'unrescuing',
  'rebuilding',
  'rebuild_block_device_mapping',
  'rebuild_spawning',
  'migrating',
  'deleting',
  'soft-deleting',
  'restoring',
  'shelving',
  'shelving_image_pending_upload',
  'shelving_image_uploading',
  'shelving_offloading',
  'unshelving'
]
const powers = [null, 0, 1, 3, 4, 6, 7]

/** The table as the specification has it, by row. */
function expected(status: string, task: string | null, power: number | null): string {
  if (status === 'DELETED') return 'gone'
  if (task === 'deleting' || task === 'soft-deleting') return 'wait'
  if (status === 'RESIZE' || status === 'REVERT_RESIZE' || task?.startsWith('resize_')) return 'watch'
  if (status === 'MIGRATING' || task === 'migrating') return 'watch'
  if (status === 'VERIFY_RESIZE') return 'wait'
  if (task !== null || ['BUILD', 'REBOOT', 'HARD_REBOOT', 'PASSWORD', 'REBUILD'].includes(status)) return 'wait'
  const byStatus: Record<string, string> = {
    ERROR: 'blocked',
    RESCUE: 'blocked',
    SOFT_DELETED: 'blocked',
    SUSPENDED: 'blocked',
    SHELVED: 'offload',
    SHELVED_OFFLOADED: 'wait',
    PAUSED: 'live',
    SHUTOFF: 'cold'
  }
  return byStatus[status] ?? (power === 1 || power === 3 ? 'live' : 'cold')
}

t.test('every status × task × power, on the host', async t => {
  let pairs = 0
  for (const [vmState, map] of Object.entries(shown)) {
    for (const taskState of tasks) {
      const status = (taskState && map[taskState]) || map.default
      for (const powerState of powers) {
        const found = classify(server({ status, vmState, taskState, powerState }), around())
        const wanted = expected(status, taskState, powerState)
        if (found.do !== wanted) t.equal(found.do, wanted, `${status}, ${taskState}, ${powerState}`)
        pairs += 1
      }
    }
  }
  t.equal(pairs, Object.keys(shown).length * tasks.length * powers.length)
})
