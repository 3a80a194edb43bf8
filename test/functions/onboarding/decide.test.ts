// From a new Hypervisor to one that is handed over: which step is next (HV-27…HV-41).
import t from 'tap'
import { decide, isOpen, type Options, type Seen } from '../../../functions/onboarding/decide.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now } from '../host-life/fixtures.ts'
import { at, nova, options, seen, server } from './fixtures.ts'

const prepared = {
  aggregates: [
    { name: 'z1', uuid: 'u' },
    { name: 'tests', uuid: 'u' }
  ]
}
const inTest = condition('AggregatesUpdated', 'False', 'TestAggregates')
const fresh = hypervisor({}, { hypervisorId: '', serviceId: '' })

const cases: Array<[name: string, given: Seen, then: object]> = [
  ['HV-33: registered', seen(fresh), { do: 'advance', to: 'Initial', host: { id: 'hv-id' } }],
  ['HV-33: not registered', seen(fresh, { hosts: [] }), { do: 'wait', at: 'Registering', waitingFor: /not registered/ }],
  [
    'HV-28: a longer name is another host',
    seen(fresh, { hosts: [nova({ hostname: 'host-10', service: { id: 's', host: 'host-10', disabledReason: null } })] }),
    { do: 'wait', at: 'Registering' }
  ],
  [
    'HV-29: a dotted name in a configured form',
    seen(fresh, { hosts: [nova({ hostname: 'host-1.example.com' })] }),
    { do: 'advance', to: 'Initial' }
  ],
  [
    'HV-28: two of them',
    seen(fresh, { hosts: [nova(), nova({ id: 'other', hostname: 'host-1.example.com' })] }),
    { do: 'wait', waitingFor: /^one host in Nova instead of host-1, host-1\.example\.com \(AmbiguousHost\)$/ }
  ],
  ['lifecycle off', seen(hypervisor({ lifecycleEnabled: false })), { do: 'nothing' }],
  ['terminating before it began', seen(hypervisor({ maintenance: 'termination' })), { do: 'nothing' }],
  [
    'HV-27: adopted',
    seen(hypervisor({}, { conditions: [condition('Onboarding', 'False')] })),
    { do: 'verify', host: { id: 'hv-id' } }
  ],
  [
    'HV-27: adopted, and leaving',
    seen(hypervisor({ maintenance: 'termination' }, { conditions: [condition('Onboarding', 'False')] })),
    { do: 'nothing' }
  ],
  [
    'HV-40: aborted, and not wanted',
    seen(hypervisor({ lifecycleEnabled: false }, { conditions: [condition('Onboarding', 'False', 'Aborted')] })),
    { do: 'nothing' }
  ],
  [
    'HV-40: aborted and wanted again',
    seen(hypervisor({}, { conditions: [condition('Onboarding', 'False', 'Aborted')] })),
    { do: 'advance', to: 'Initial' }
  ],

  [
    'HV-34: waits for the label of its zone',
    seen({ ...at('Initial'), metadata: hypervisor({}, {}, null).metadata }),
    { do: 'wait', at: 'Initial', waitingFor: 'the label topology.kubernetes.io/zone' }
  ],
  ['HV-34: waits for the test aggregates', seen(at('Initial')), { do: 'wait', waitingFor: 'the aggregates z1 and tests' }],
  [
    'HV-34: production aggregates will not do',
    seen(
      at(
        'Initial',
        {
          aggregates: [
            { name: 'z1', uuid: 'u' },
            { name: 'general', uuid: 'u' }
          ]
        },
        {},
        [inTest]
      )
    ),
    { do: 'wait' }
  ],
  [
    'HV-34: in them, but perhaps also in others',
    seen(at('Initial', prepared)),
    { do: 'wait', waitingFor: 'the aggregates z1 and tests' }
  ],
  [
    'HV-43: the first of the checks that failed is named',
    seen(at('Initial', prepared, {}, [inTest]), {
      checks: ['libvirt', 'storage'].map(name => ({ name: `check ${name}`, result: 'Failed', reason: 'x' }))
    }),
    { do: 'wait', waitingFor: 'the check libvirt: x' }
  ],
  ['HV-35: already enabled', seen(at('Initial', prepared, {}, [inTest])), { do: 'advance', to: 'Testing' }],
  [
    'HV-35: a new service',
    seen(at('Initial', prepared, {}, [inTest]), {
      hosts: [
        nova({
          status: 'disabled',
          service: { id: 's', host: 'host-1', disabledReason: 'New compute service disabled due to config option.' }
        })
      ]
    }),
    { do: 'enable' }
  ],
  [
    'HV-32: our own disabling',
    seen(at('Initial', prepared, {}, [inTest]), {
      hosts: [
        nova({ status: 'disabled', service: { id: 's', host: 'host-1', disabledReason: 'drover: x (drover-maintenance)' } })
      ]
    }),
    { do: 'enable' }
  ],
  [
    "HV-32: somebody else's",
    seen(at('Initial', prepared, {}, [inTest]), {
      hosts: [nova({ status: 'disabled', service: { id: 's', host: 'host-1', disabledReason: 'bad fans' } })]
    }),
    { do: 'wait', waitingFor: 'whoever disabled the compute service: bad fans' }
  ],
  [
    "HV-32: somebody else's, without a word",
    seen(at('Initial', prepared, {}, [inTest]), {
      hosts: [nova({ status: 'disabled', service: { id: 's', host: 'host-1', disabledReason: null } })]
    }),
    { do: 'wait', waitingFor: 'whoever disabled the compute service: no reason given' }
  ],
  [
    'HV-35: down',
    seen(at('Initial', prepared, {}, [inTest]), { hosts: [nova({ state: 'down' })] }),
    { do: 'wait', waitingFor: 'nova-compute to be up' }
  ],
  [
    'HV-35: forced down',
    seen(at('Initial', prepared, {}, [inTest]), { hosts: [nova({ state: 'down' })], forcedDown: true }),
    { do: 'enable' }
  ],

  [
    'HV-40: the lifecycle is switched off in the middle',
    seen(at('Testing', {}, { lifecycleEnabled: false }), { servers: [server()] }),
    { do: 'clean', at: 'Aborted' }
  ],
  [
    'HV-37, HV-40: wanted again before all was cleaned up',
    seen(at('Aborted'), { servers: [server()] }),
    { do: 'clean', at: 'Aborted', servers: ['id-1'] }
  ],
  ['HV-40: wanted again', seen(at('Aborted')), { do: 'advance', to: 'Initial' }],
  [
    'HV-40: and cleaned up',
    seen(at('Aborted', {}, { lifecycleEnabled: false })),
    { do: 'abort', why: 'the lifecycle was switched off' }
  ],
  [
    'HV-40: termination in the middle',
    seen(at('Handover', {}, { maintenance: 'termination' })),
    { do: 'abort', why: 'the host is to be terminated' }
  ],

  ['HV-38: traits first', seen(at('Handover')), { do: 'wait', waitingFor: /^the traits$/ }],
  [
    'HV-38: why they wait is told',
    seen(at('Handover', {}, {}, [condition('TraitsUpdated', 'False', 'Failed', { message: 'no such' })])),
    { do: 'wait', waitingFor: 'the traits: no such' }
  ],
  [
    'HV-38: without a word',
    seen(at('Handover', {}, {}, [condition('TraitsUpdated', 'False', 'Failed')])),
    { do: 'wait', waitingFor: /^the traits$/ }
  ],
  [
    'HV-38: what was said of an older spec does not count',
    seen(at('Handover', {}, {}, [condition('TraitsUpdated', 'True', 'Succeeded', { message: 'Set', observedGeneration: 2 })])),
    { do: 'wait', waitingFor: /^the traits$/ }
  ],
  [
    'HV-38: then aggregates',
    seen(
      at('Handover', {}, {}, [
        condition('TraitsUpdated', 'True'),
        condition('AggregatesUpdated', 'False', 'Failed', { message: 'no such' })
      ])
    ),
    { do: 'wait', waitingFor: 'the aggregates: no such' }
  ],
  [
    'HV-38: done',
    seen(at('Handover', {}, {}, [condition('TraitsUpdated', 'True'), condition('AggregatesUpdated', 'True')])),
    { do: 'succeed' }
  ]
]
for (const [name, given, then] of cases) void t.test(name, async t => t.match(decide(given, options, now), then))

void t.test('HV-41: the gate of high availability', async t => {
  const ready = [condition('TraitsUpdated', 'True'), condition('AggregatesUpdated', 'True')]
  const step = (haMode: Options['haMode'], spec: Partial<Hypervisor['spec']> = {}, more: typeof ready = []) =>
    decide(seen(at('Handover', {}, spec, [...ready, ...more])), { ...options, haMode }, now)
  t.match(step('drover'), { do: 'wait', waitingFor: /^high availability$/ })
  t.match(step('drover', {}, [condition('HaEnabled', 'Unknown', 'Failed', { message: 'no agent' })]), {
    do: 'wait',
    waitingFor: 'high availability: no agent'
  })
  t.match(step('external'), { do: 'wait' })
  t.match(step('drover', {}, [condition('HaEnabled', 'True')]), { do: 'succeed' })
  t.match(step('drover', { highAvailability: false }), { do: 'succeed' })
  t.match(step('off'), { do: 'succeed' })
})

void t.test('HV-9: the fast tick looks at who is under way', async t => {
  const open = (...[spec, status]: Parameters<typeof hypervisor>) => isOpen(hypervisor(spec, status))
  const aborted = { conditions: [condition('Onboarding', 'False', 'Aborted')] }
  t.equal(open({}, { conditions: [condition('Onboarding', 'False')] }), false, 'done')
  for (const status of [{}, aborted]) {
    t.equal(open({}, status), true)
    t.equal(open({ lifecycleEnabled: false }, status), false)
    t.equal(open({ maintenance: 'termination' }, status), false)
    t.equal(open({ maintenance: 'manual' }, status), true)
  }
  t.equal(isOpen(at('Testing', {}, { lifecycleEnabled: false })), true, 'HV-40: to be cleaned up')
})
