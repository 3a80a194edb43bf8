// Drover's own status fields: all optional, without defaults (HV-3).
import { dateTime, flag, int32, int64, list, listMap, mapOf, object, text, word } from './vocabulary.ts'

const test = object(
  'One test',
  {
    name: text('Name of the test'),
    result: text('Outcome'),
    reason: text('Why'),
    startedAt: dateTime('Start'),
    finishedAt: dateTime('End')
  },
  { required: ['name'] }
)

const workflow = (description: string) =>
  object(description, {
    attempts: int32('Tries so far', { minimum: 0 }),
    maxAttempts: int32('Tries allowed', { minimum: 0 }),
    startedAt: dateTime('When this try began'),
    step: text('The step it is at'),
    waitingFor: text('What is awaited'),
    lastError: text('The last failure'),
    tests: list('Tests made', test)
  })

const evictionRef = (description: string) =>
  object(description, { name: text('Name of the Eviction'), uid: text('UID of the Eviction'), verdict: text('Its outcome') })

const gate = object(
  'One gate',
  {
    name: text('Name of the gate'),
    verdict: word('Its answer', ['Pass', 'Hold', 'Block', 'Skip']),
    reason: text('Why'),
    value: text('What was measured'),
    limit: text('What is allowed'),
    at: dateTime('When it was asked')
  },
  { required: ['name', 'verdict'] }
)

const incident = object(
  'One server that was reported as failed',
  {
    server: text('UUID of the server'),
    name: text('Name of the domain'),
    kind: text('What was reported, as crashed'),
    state: word('How far it is', [
      'Checking',
      'Paused',
      'Resuming',
      'Restarting',
      'Proving',
      'Moving',
      'Recovered',
      'Reported',
      'Blocked',
      'Closed'
    ]),
    decisionId: text('Its id; the same report always gives the same'),
    event: text('The event, as stopped/failed'),
    eventAt: dateTime('When the host saw it'),
    noticedAt: dateTime('When it was first heard here'),
    count: int32('Reports that belong to it', { minimum: 1 }),
    storage: text('Where the failed disk is, as far as its path tells'),
    trace: text('Trace of the first report (W3C traceparent)'),
    plan: object('What the policy said when it was decided; later changes of the policy do not alter it', {
      restarts: int32('Restarts allowed', { minimum: 0 }),
      windowSeconds: int32('… within this time', { minimum: 0 }),
      waitsSeconds: list('Waits before each', int32('Seconds', { minimum: 0 })),
      provenSeconds: int32('How long it must run to count as recovered', { minimum: 0 }),
      restartSeconds: int32('How long one restart may take', { minimum: 0 }),
      move: flag('Whether it is moved once when restarts do not help')
    }),
    attempts: list(
      'What was tried',
      object(
        'One try',
        {
          action: word('What', ['restart', 'move', 'start', 'confirm', 'resume']),
          at: dateTime('When it was decided'),
          request: text("Nova's request id"),
          outcome: text('How it went')
        },
        { required: ['action', 'at'] }
      ),
      { maxItems: 20 }
    ),
    since: dateTime('Since when it is in this state'),
    nextCheckAt: dateTime('When it is looked at again'),
    waitingFor: text('What is awaited'),
    rule: text('The rule that matched'),
    reason: text('Why, in plain words'),
    passedOver: list('Rules that did not match', text('One rule')),
    inputs: mapOf('What it was decided from', text('Value'))
  },
  { required: ['server', 'kind', 'state', 'decisionId'] }
)

const ha = object('Failure detection and rescue', {
  mode: text('Who is in charge of high availability'),
  state: text('Verdict on the host'),
  since: dateTime('When the verdict was reached'),
  decisionId: text('The decision under way'),
  channels: listMap(
    'Ways by which signs of life come',
    object(
      'One way',
      {
        name: text('Name of the channel'),
        state: text('What it says'),
        lastSeen: dateTime('Last sign of life'),
        independent: flag('Whether it shares no path with the others')
      },
      { required: ['name'] }
    ),
    ['name']
  ),
  observers: object('Who watches', {
    total: int32('Observers', { minimum: 0 }),
    agreeing: int32('Observers of the same opinion', { minimum: 0 }),
    holder: text('The one that decides')
  }),
  gates: listMap('What was asked before acting', gate, ['name']),
  fencing: object('Switching the host off', {
    method: text('Method used'),
    state: text('How far it is'),
    attempts: int32('Tries', { minimum: 0 }),
    startedAt: dateTime('First try'),
    provenAt: dateTime('When the host was proven off'),
    evidence: text('What proves it')
  }),
  evictionRef: evictionRef('The Eviction that rescues the servers'),
  signals: list(
    'Faults seen',
    object(
      'One kind of fault',
      {
        kind: text('Kind'),
        object: text('What it is about, as the name of a bond'),
        count: int32('How often', { minimum: 0 }),
        since: dateTime('Since when'),
        lastSeen: dateTime('When it was last seen'),
        times: list('When it was seen, the newest last', dateTime('Time'), { maxItems: 20 }),
        effect: word('What it asks for now', ['alert', 'disable', 'drain']),
        dueAt: dateTime('From when on scheduling is disabled for it'),
        message: text('What it means, in plain words')
      },
      { required: ['kind'] }
    )
  ),
  // one writer, and hundreds at once in a storm: whole, not merged entry by entry (HA-17)
  incidents: list('Servers that were reported as failed, until each has its end', incident, { maxItems: 500 }),
  nextCheckAt: dateTime('When time alone may move something on'),
  flap: object('How often the host failed', {
    count24h: int32('Failures in 24 hours', { minimum: 0 }),
    holdUntil: dateTime('Not before this time')
  }),
  waitingFor: text('What is awaited'),
  history: list(
    'The newest decisions',
    object(
      'One decision',
      {
        decisionId: text('Its id'),
        kind: text('What it was about, as crashed or BondLost'),
        server: text('The server, if it was about one'),
        state: text('How it ended'),
        action: text('What was done'),
        rule: text('The rule that matched'),
        reason: text('Why, in plain words'),
        passedOver: list('Rules that were asked before and did not match, in plain words', text('One rule')),
        inputs: mapOf('What it was decided from', text('Value')),
        startedAt: dateTime('Start'),
        finishedAt: dateTime('End')
      },
      { required: ['decisionId'] }
    ),
    { maxItems: 10 }
  )
})

export const hypervisorExtensions = {
  agent: object('The node agent', {
    version: text('Version of the agent'),
    bootId: text('Boot id of the host'),
    lastHeartbeat: dateTime('Last heartbeat'),
    sequence: int64('Number of the last event', { minimum: 0 }),
    uptimeSeconds: int64('Seconds since boot', { minimum: 0 }),
    libvirtUri: text('How the agent reaches libvirt'),
    degraded: list('What the agent cannot do at the moment', text('Reason')),
    shutdownBudgetSeconds: int64('How long a shutdown can be held back', { minimum: 0 })
  }),
  internalIps: list('All internal addresses of the node, sorted', text('Address')),
  nova: object('The compute service, as last read from Nova', {
    host: text('Name of the service host'),
    hypervisorHostname: text('Name of the hypervisor'),
    status: text('enabled or disabled'),
    state: text('up or down'),
    forcedDown: flag('Whether it is forced down'),
    disabledReason: text('Reason given for the disabling'),
    checkedAt: dateTime('When it was read')
  }),
  onboarding: workflow('Onboarding'),
  offboarding: workflow('Offboarding'),
  maintenance: object('Maintenance in force', {
    mode: text('Mode'),
    since: dateTime('Since when'),
    requestedBy: text('Who asked'),
    reason: text('Why'),
    evictionRef: evictionRef('The Eviction made for it')
  }),
  managedTraits: list('Traits that Drover set', text('Trait')),
  drift: listMap(
    'Where the outside world differs',
    object(
      'One difference',
      {
        kind: word('What differs', ['service', 'aggregate', 'trait', 'provider', 'ids', 'spec']),
        name: text('Which one'),
        expected: text('What it should be'),
        actual: text('What it is'),
        since: dateTime('Since when'),
        action: word('What was done', ['repaired', 'reported'])
      },
      { required: ['kind', 'name'] }
    ),
    ['kind', 'name']
  ),
  ha,
  history: listMap(
    'The newest changes',
    object(
      'One change',
      {
        id: text('Its id'),
        time: dateTime('When'),
        kind: text('What changed'),
        from: text('Before'),
        to: text('After'),
        reason: text('Why'),
        actor: text('Who')
      },
      { required: ['id'] }
    ),
    ['id']
  )
}
