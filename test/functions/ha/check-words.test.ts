// HA-8, HA-9: each rule of the fault check on both sides of its limit, and all that it tells in words.
import t from 'tap'
import type { Server } from 'openstack-sdk-lite'
import { checkFault, type Facts } from '../../../functions/ha/check.ts'
import type { Domain, Incident } from '../../../functions/ha/seen.ts'
import { factsOf, noted } from './facts.ts'
import { action, evidence, iso, startMs } from './fixtures.ts'

const s = 1000
const off: Domain = { id: noted.server, name: 'instance-1', active: false, state: 'off', since: iso(startMs) }
const is = (state: string, sinceMs = startMs - 60 * s, control?: Domain['control']): Domain => ({
  ...off,
  state,
  since: iso(sinceMs),
  ...(control && { control })
})
const nova = (server: Partial<Server>) => ({ evidence: evidence(server) })
const about = (kind: string, more: Partial<Incident> = {}) => ({ incident: { ...noted, kind, ...more } })
const asked = (state: string, atMs: number, details = 'none') => ({ state, details, checkedAt: iso(atMs) })
const lost = (control?: Domain['control'], state = 'running') => ({
  ...about('controlLost'),
  domain: is(state, startMs - 60 * s, control)
})
const long = startMs + 2 * s + 120 * s

const rows: Array<[given: Partial<Facts>, rule: string, finding: string, reason: string]> = [
  [{ evidence: evidence('gone') }, 'NotInNova', 'none', 'Nova knows no server of this id: it is not ours.'],
  [nova({ host: 'host-2' }), 'NotOnThisHost', 'none', 'Nova has it on host-2.'],
  [nova({ host: null }), 'Fault', 'fault', 'The domain is off and nobody asked for that.'],
  [
    { shuttingDown: true, ...about('stoppedByHost') },
    'HostShutsDown',
    'none',
    'The host is shutting down: its stop is a part of that.'
  ],
  [{ shuttingDown: true }, 'Fault', 'fault', 'The domain is off and nobody asked for that.'],
  [{ domainKnown: false }, 'DomainNotKnown', 'wait', 'Nobody can see the domain now: servers keep running without libvirt.'],
  [{ domain: is('running', startMs) }, 'Runs', 'none', `The domain is running since ${iso(startMs)}.`],
  [{ domain: is('blocked', startMs) }, 'Runs', 'none', `The domain is blocked since ${iso(startMs)}.`],
  // the agent writes whole seconds
  [
    { domain: is('running', startMs), ...about('crashed', { eventAt: iso(startMs + 999) }) },
    'Runs',
    'none',
    `The domain is running since ${iso(startMs)}.`
  ],
  [
    { domain: is('running', startMs - s) },
    'NotSeenYet',
    'wait',
    'The agent shows it as running: what was reported is not in its status yet.'
  ],
  ...['memory', 'crashloaded', 'disk', 'rebooted'].map((kind): (typeof rows)[number] => [
    { domain: is('running'), ...about(kind) },
    'Runs',
    'none',
    `The domain is running since ${iso(startMs - 60 * s)}.`
  ]),
  [
    { domain: is('running'), nowMs: long },
    'NotConfirmed',
    'none',
    `The agent still sees it running since ${iso(startMs - 60 * s)}: the report is not confirmed.`
  ],
  [
    { domain: is('blocked'), nowMs: long - 1 },
    'NotSeenYet',
    'wait',
    'The agent shows it as blocked: what was reported is not in its status yet.'
  ],
  [
    { domain: is('shutting-down'), nowMs: long },
    'NotSeenYet',
    'wait',
    'The agent shows it as shutting-down: what was reported is not in its status yet.'
  ],
  [{ domain: is('paused') }, 'Fault', 'fault', 'The domain is paused and nobody asked for that.'],
  [{ domain: undefined }, 'Fault', 'fault', 'The domain is gone and nobody asked for that.'],
  [lost(asked('ok', startMs)), 'Managed', 'none', `libvirt was asked at ${iso(startMs)}: it can be managed.`],
  [
    { ...lost(asked('ok', startMs)), ...about('controlLost', { eventAt: iso(startMs + 999) }) },
    'Managed',
    'none',
    `libvirt was asked at ${iso(startMs)}: it can be managed.`
  ],
  [
    lost(asked('ok', startMs - s)),
    'ControlNotConfirmed',
    'wait',
    'libvirt does not confirm that it cannot be managed: not asked yet.'
  ],
  [lost(), 'ControlNotConfirmed', 'wait', 'libvirt does not confirm that it cannot be managed: not asked yet.'],
  [
    lost(asked('occupied', startMs)),
    'ControlNotConfirmed',
    'wait',
    'libvirt does not confirm that it cannot be managed: occupied.'
  ],
  [lost(asked('error', startMs, 'monitor')), 'Fault', 'fault', 'The domain is running and cannot be managed (error, monitor).'],
  // whose domain is down was not lost to libvirt alone: it is judged as any other
  [lost(undefined, 'off'), 'Fault', 'fault', 'The domain is off and nobody asked for that.'],
  [lost(undefined, 'crashed'), 'Fault', 'fault', 'The domain is crashed and nobody asked for that.'],
  [{ ...about('controlLost'), domain: undefined }, 'Fault', 'fault', 'The domain is gone and nobody asked for that.'],
  [nova({ status: 'PAUSED', vmState: 'paused' }), 'NovaState', 'none', 'It is PAUSED in Nova: that explains it.'],
  [nova({ status: 'SHUTOFF', vmState: 'stopped' }), 'Fault', 'fault', 'The domain is off and nobody asked for that.'],
  [nova({ status: 'ERROR', vmState: 'error' }), 'Fault', 'fault', 'The domain is off and nobody asked for that.'],
  [nova({ taskState: 'powering-off' }), 'TaskExplains', 'none', 'Nova is at it: powering-off.'],
  [nova({ taskState: 'image_snapshot' }), 'TaskBusy', 'wait', 'Nova is busy with it: image_snapshot.'],
  [
    { evidence: evidence({}, [action('stop', startMs - s)]) },
    'RequestExplains',
    'none',
    `Somebody asked for it: stop at 2026-11-16T11:59:59 by a user (req-stop-${startMs - s}).`
  ],
  [
    { evidence: evidence({}, [action('stop', startMs - 60 * s, { userId: null })]) },
    'WasStopped',
    'none',
    'It was off before: stop at 2026-11-16T11:59:00 by Nova itself. What was off is never started.'
  ]
]
for (const [given, rule, finding, reason] of rows) {
  t.test(`HA-8, HA-9: ${rule}: ${reason}`, async t => {
    const found = checkFault(factsOf([], { domain: off, ...given }))
    t.strictSame({ rule: found.rule, finding: found.finding, reason: found.reason }, { rule, finding, reason })
  })
}

t.test('HA-8: a fault tells every rule that was asked before, and what it was decided from', async t => {
  const actions = [action('create', startMs - 3600 * s), action('start', startMs - 600 * s, { userId: null })]
  t.strictSame(checkFault(factsOf(actions, { domain: off })), {
    finding: 'fault',
    rule: 'Fault',
    reason: 'The domain is off and nobody asked for that.',
    passedOver: [
      'NotInNova: Nova knows the server.',
      'NotOnThisHost: Nova has it on host-1.',
      'HostShutsDown: The host is not shutting down.',
      'DomainNotKnown: The agent sees the domains of the host.',
      'Runs: The domain is off.',
      'NotConfirmed: The report is not yet older than it may be.',
      'NotSeenYet: The agent shows that it does not run.',
      'NovaState: It is ACTIVE in Nova.',
      'TaskExplains: Its task in Nova is none.',
      'TaskBusy: Nova is not busy with it.',
      'RequestExplains: No request of a user within 120 s before, and none is unfinished.',
      'WasStopped: It was on before (start at 2026-11-16T11:50:00 by Nova itself); a stop by Nova itself after the event proves nothing.'
    ],
    inputs: {
      event: 'stopped/failed',
      eventAt: iso(startMs),
      askedAt: iso(startMs + 3 * s),
      domain: `off since ${iso(startMs)}`,
      server: 'ACTIVE, task none, power 1, on host-1',
      actions: 'start at 2026-11-16T11:50:00 by Nova itself; create at 2026-11-16T11:00:00 by a user'
    }
  })
})

t.test('HA-8: of a server that cannot be managed', async t => {
  const { passedOver, inputs } = checkFault(factsOf([], lost(asked('error', startMs, 'monitor'))))
  t.strictSame(passedOver.slice(4, 6), [
    'Managed: libvirt does not say that it can be managed (error, monitor).',
    'ControlNotConfirmed: libvirt confirms that it cannot be managed (error, monitor).'
  ])
  t.notOk(
    passedOver.some(words => /^(Runs|NotConfirmed|NotSeenYet):/.test(words)),
    'that it runs is no excuse'
  )
  t.equal(inputs['control'], 'error, monitor')
  t.equal(passedOver.at(-1)?.includes('(none)'), true, 'nothing is known of it from before')
})

t.test('HA-8: the inputs of what is out of the ordinary', async t => {
  const gone = checkFault(
    factsOf([], { ...about('crashed'), evidence: evidence('gone'), domainKnown: false, shuttingDown: true })
  )
  t.strictSame(gone.inputs, {
    event: 'stopped/failed',
    eventAt: iso(startMs),
    askedAt: iso(startMs + 3 * s),
    domain: 'gone',
    domainKnown: 'no',
    shuttingDown: 'yes',
    server: 'not in Nova',
    actions: 'none'
  })
  const { event: _, eventAt: __, ...bare } = noted
  const fault = { code: 500, message: 'x'.repeat(300), created: null }
  const actions = [1, 2, 3, 4, 5, 6].map(n => action('reboot', startMs - n * s))
  const { inputs } = checkFault(
    factsOf([], { incident: bare, domain: off, evidence: evidence({ taskState: 'rebooting', fault }, actions) })
  )
  t.equal(inputs['event'], 'crashed', 'its kind, where no event told of it')
  t.equal(inputs['eventAt'], '')
  t.equal(inputs['server'], `ACTIVE, task rebooting, power 1, on host-1: ${'x'.repeat(254)}`)
  t.equal(inputs['actions']?.split('; ').length, 5)
})
