// T-14: Nova took an order (202) and could not do it: its own words are kept, and nothing is waited for that will not come.
import t from 'tap'
import type { ActionStep } from 'openstack-sdk-lite'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { domainCrashed } from '../../../shared/events/libvirt.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { action, calls, evidence, created, life, serverId, world, type World } from './fixtures.ts'

const s = 1000
const noHost = 'No valid host was found. No valid host found for cold migrate'

/** Nova's record of what was asked for: it went wrong. */
function wentWrong(it: World, name: string, details: string | null, server: Parameters<typeof evidence>[0]): World {
  const known = it.evidence.get(serverId())?.actions.filter(one => one.action !== name && one.action !== 'create') ?? []
  const failed = action(name, it.nowMs, { message: 'Error' })
  const step: ActionStep = {
    event: `compute_${name}`,
    result: 'Error',
    host: 'host-1',
    details,
    started: failed.started,
    finished: failed.started
  }
  it.evidence.set(serverId(), evidence(server, [created, ...known, failed], new Map([[failed.requestId, [step]]])))
  return it
}

const inError = (message: string) =>
  ({ status: 'ERROR', vmState: 'error', fault: { code: 500, message, created: null } }) as const

t.test('a restart that failed: with its words, and without waiting for the time that it may take', async t => {
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(3)
  wentWrong(it, 'reboot', 'Failed to connect network', inError('not this one')).pass(3)
  matchWhole(t, it.ha.incidents, [{ state: 'Checking', attempts: [{ outcome: 'failed: Failed to connect network' }] }])
  t.match(it.ha.incidents?.[0]?.waitingFor, /^restart 2 of 3, after 60 s/)
  it.pass(60)
  t.equal(calls(it).length, 2, 'the next one at its time')
  const silent = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(3)
  wentWrong(silent, 'reboot', null, inError('libvirtError')).pass(3)
  matchWhole(
    t,
    silent.ha.incidents,
    [{ attempts: [{ outcome: 'failed: libvirtError' }] }],
    'where its step says nothing, its fault does'
  )
})

t.test('given up: why the last one failed is in the reason', async t => {
  const it = world({}, parsePolicy('mode: drover\nvm: { restarts: 1 }'))
  it.domain('off').tell(domainCrashed, life('stopped/failed')).pass(3)
  wentWrong(it, 'reboot', 'Unable to allocate inventory', inError('…')).pass(3)
  matchWhole(t, it.ha.history, [
    {
      state: 'Blocked',
      reason: /1 restarts did not help: a person is needed\. The last restart: failed: Unable to allocate inventory\.$/,
      inputs: { server: /ERROR/ }
    }
  ])
})

t.test('a move for which there is no host: given up at once, and not as if Nova were still at it', async t => {
  const it = world({}, parsePolicy('mode: drover\nvm: { restarts: 1, moveOnRepeat: true }'))
  it.domain('off').tell(domainCrashed, life('stopped/failed')).pass(4)
  it.nova({ status: 'SHUTOFF', vmState: 'stopped' }, action('reboot', it.nowMs - s)).pass(130)
  t.strictSame(calls(it), ['restart 01', 'move 01'])
  wentWrong(it, 'migrate', noHost, { status: 'SHUTOFF', vmState: 'stopped', taskState: 'resize_prep' }).pass(5)
  t.equal(it.ha.incidents?.[0]?.state, 'Moving', 'it is not idle yet')
  const known = it.evidence.get(serverId())!
  it.evidence.set(serverId(), { ...known, server: { ...known.server!, taskState: null } })
  it.pass(5)
  matchWhole(t, it.ha.incidents, [{ state: 'Blocked', reason: new RegExp(`The last move: failed: ${noHost}`) }])
  t.strictSame(calls(it), ['restart 01', 'move 01'])
})
