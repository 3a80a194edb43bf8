// What the rules for hosts, evictions, switches and networks tell whoever they refuse, word for word.
import t from 'tap'
import { checkEviction } from '../../shared/rules/eviction.ts'
import { hostOf } from '../../shared/rules/fleet.ts'
import { checkHypervisor } from '../../shared/rules/hypervisor.ts'
import { checkNetworkConfiguration, checkNetworkDeletion } from '../../shared/rules/network-configuration.ts'
import { checkOVSNode } from '../../shared/rules/ovs-node.ts'
import { inWords, type Verdict } from '../../shared/rules/rule.ts'
import { withDefaults } from '../../shared/schema/defaults.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'
import { agent, asked, type Given, ha, jane } from './asked.ts'

const words = ({ violations, warnings }: Verdict) => [...violations, ...warnings].map(inWords)
const uuid = '6fa459ea-ee8a-3ca4-894e-db77e160355e'
const labels = { 'topology.kubernetes.io/zone': 'z' }
const hv = (spec: object = {}, name = 'h', status?: object) =>
  withDefaults(Hypervisor, { metadata: { name, labels }, spec, ...(status && { status }) }) as unknown as Hypervisor
const host = (object: Hypervisor, more: Given<Hypervisor> = {}) => words(checkHypervisor(asked(object, more)))
const trait = { trait: { name: 'A' } }
const aggregate = (id: string) => ({ aggregate: { name: 'a', uuid: id } })

const hosts: Array<[object: Hypervisor, more: Given<Hypervisor>, wanted: string[]]> = [
  [
    hv({ maintenance: 'auto' }),
    { old: hv({ maintenance: 'termination' }), user: ha },
    ['spec: is frozen while maintenance is termination: only a change to maintenance: ha is allowed (R1)']
  ],
  [hv({ maintenance: 'manual' }), {}, ['spec.maintenanceReason: must say why maintenance is manual (R2)']],
  [hv({ overcommit: { cpu: 0.99 } }), {}, ['spec.overcommit.cpu: must be at least 1.0, not 0.99 (R3)']],
  [hv({ groups: [{}] }), {}, ['spec.groups[0]: exactly one of trait and aggregate must be given, not neither (R4)']],
  [
    hv({ groups: [{ ...trait, ...aggregate(uuid) }] }),
    {},
    ['spec.groups[0]: exactly one of trait and aggregate must be given, not both (R4)']
  ],
  [
    hv({ groups: [trait, trait, trait] }),
    {},
    [
      'spec.groups[1].trait.name: the trait A is in groups[0] already (HV-11)',
      'spec.groups[2].trait.name: the trait A is in groups[0] already (HV-11)'
    ]
  ],
  [
    hv({ groups: [aggregate(uuid), aggregate(uuid.toUpperCase())] }),
    {},
    [`spec.groups[1].aggregate.uuid: the aggregate ${uuid} is in groups[0] already (HV-11)`]
  ],
  [hv({ maintenance: 'ha' }), { old: hv() }, ['spec.maintenance: ha is set by the HA service alone, not by jane (HV-13)']],
  [
    hv({ maintenance: 'auto' }, 'h', { numInstances: 0 }),
    { old: hv(), hosts: { known: false } },
    ['spec.maintenance: capacity and budgets were not checked: the other hosts are not known (HV-12)']
  ]
]
for (const [object, more, wanted] of hosts) t.test(wanted.join(' '), async t => t.strictSame(host(object, more), wanted))

t.test('HV-12: what a zone and an aggregate would lack', async t => {
  const sized = (used: number, maxUnavailable?: string) => ({
    numInstances: 0,
    capacity: { cpu: 10, memory: '10Gi' },
    allocation: { cpu: used, memory: '0' },
    ...(maxUnavailable && { aggregates: [{ name: 'gpu', uuid, metadata: { maxUnavailable } }] })
  })
  const drained = (used: number, limit: string | undefined, fleet: Hypervisor[]) =>
    host(hv({ maintenance: 'auto' }, 'h', sized(used, limit)), {
      old: hv({}, 'h'),
      hosts: { known: true, value: fleet.map(hostOf) }
    })
  const away = (name: string) => hv({ maintenance: 'ha' }, name, sized(0, '0'))
  const zone = [hv({}, 'x', sized(0)), hv({}, 'y', sized(0))]
  t.match(
    drained(20, undefined, zone).join(),
    /^spec\.maintenance: with one more host lost, zone z would have 50 % of the cpu that /
  )
  const budget = (others: string) => [`spec.maintenance: aggregate gpu allows 0 unavailable hosts${others} (HV-12)`]
  t.strictSame(drained(0, '0', zone), budget(''))
  t.strictSame(drained(0, '0', [...zone, away('a')]), budget(', and a is away already'))
  t.strictSame(drained(0, '0', [...zone, away('b'), away('a')]), budget(', and a, b are away already'))
  t.match(drained(0, undefined, [...zone, hv({}, 'q', { numInstances: 0 })]).join(), /q does not tell its size/)
})

t.test('HV-14, OV-5: what an agent is told', async t => {
  const old = hv({}, 'node-a', { numInstances: 1, evicted: false, conditions: [] })
  const write = (status: object, user: object, more: object = {}) =>
    host({ ...old, status: { ...old.status, ...status } } as Hypervisor, {
      old,
      user: user as typeof jane,
      subresource: 'status',
      ...more
    })
  t.strictSame(write({}, agent('node-b')), ['metadata.name: the agent of node-b may write the Hypervisor node-b alone (HV-14)'])
  t.strictSame(write({}, agent()), [
    'metadata.name: an agent must use the token of its pod: this one is bound to no node (HV-14)'
  ])
  t.strictSame(write({ evicted: true }, agent('node-a')), ["status.evicted: is not the agent's to write (HV-14)"])
  t.strictSame(write({}, agent('node-a'), { operation: 'DELETE' }), ['an agent may not delete a Hypervisor (HV-14)'])
  t.strictSame(write({}, agent('node-a'), { operation: 'CREATE', old: undefined }), [
    'an agent may not create a Hypervisor (HV-14)'
  ])
  const line = (id: string, actor: string) => ({ id, actor })
  t.strictSame(write({ history: [line('1', 'drover-hypervisor-agent')] }, agent('node-a')), [])
  const node = withDefaults(OVSNode, { metadata: { name: 'n' }, spec: { nodeRef: { name: 'm' } } }) as unknown as OVSNode
  t.match(words(checkOVSNode(asked(node))).join(), /must be n, the name of the object/)
  t.strictSame(words(checkOVSNode(asked(node, { operation: 'DELETE' }))), [])
})

t.test('evictions', async t => {
  const eviction = (spec: object) => withDefaults(Eviction, { metadata: { name: 'e' }, spec }) as unknown as Eviction
  const told = (spec: object, more: Given<Eviction> = {}) => words(checkEviction(asked(eviction(spec), more))).join()
  const drain = { hypervisor: 'a', reason: 'x' }
  const known = { hosts: { known: true as const, value: [hostOf(hv({}, 'a')), hostOf(hv({}, 'b'))] } }
  t.match(told({ ...drain, hypervisor: 'b' }, { old: eviction(drain), ...known }), /spec\.hypervisor: must stay a /)
  t.match(told({ ...drain, mode: 'evacuate' }, { old: eviction(drain), user: ha, ...known }), /spec\.mode: must stay drain /)
  t.match(told({ ...drain, mode: 'evacuate' }, known), /evacuate is for the HA service alone, not for jane: use drain/)
  t.match(told(drain, { ...known, evictions: { known: false } }), /other Evictions of the host were not checked/)
  t.notMatch(told({ ...drain, reason: 'y' }, { old: eviction(drain), ...known, evictions: { known: false } }), /not checked/)
})

t.test('NC1–NC4: networks', async t => {
  type Spec = NetworkConfiguration['spec']
  const network = (spec: Spec, machineCount = 0, more: object = {}): NetworkConfiguration => ({
    metadata: { name: 'n', ...more },
    spec,
    status: { machineCount }
  })
  const told = (spec: Spec, old?: NetworkConfiguration, more = {}) =>
    words(checkNetworkConfiguration(network(spec, 0, more), old)).join()
  const subnet = (text: string, gateway?: string): Spec => ({
    bridge: 'br0',
    ipam: { type: 'static', subnet: text, ...(gateway && { gateway }) }
  })
  t.match(told({}), /exactly one of bridge, nadRef and podNetwork: true must be given, not /)
  t.match(told({ podNetwork: true, vlan: 5 }), /vlan needs a bridge: add it or leave vlan out/)
  t.match(told(subnet('x')), /must be a subnet such as 10\.0\.0\.0\/24/)
  t.match(told(subnet('10.0.0.0/24', 'x')), /must be an IP address, such as 10\.0\.0\.1/)
  t.match(told(subnet('10.0.0.0/24', '10.0.1.1')), /the gateway must be inside the subnet 10\.0\.0\.0\/24/)
  t.notMatch(told(subnet('10.0.0.0/24', 'x')), /inside/)
  for (const text of ['10.0.0.0/32', '10.0.0.0/0', 'fd00::/128']) t.equal(told(subnet(text)), '', text)
  for (const text of ['10.0.0.0/33', 'fd00::/129', 'fe80::1%eth0/64', '::ffff:10.0.0.1/96', '10.0.0.0/', '/24'])
    t.not(told(subnet(text)), '', text)
  const used = (count: number, spec: Spec = { bridge: 'br0' }) => network(spec, count)
  t.match(told({ bridge: 'br1' }, used(2)), /cannot change while 2 Machines use this network/)
  t.equal(told({ bridge: 'br1' }, used(0)), '')
  t.match(told({ bridge: 'br0', mtu: 9000 }, used(1)), /the new MTU counts from the next start of each of the 1 Machines/)
  t.equal(told({ bridge: 'br0', mtu: 9000 }, used(0)), '')
  t.equal(told({ bridge: 'br0', mtu: 9000, vlan: 0 }, used(1, { bridge: 'br0', mtu: 9000 })), '')
  t.equal(told({}, undefined, { deletionTimestamp: '2026-11-01T00:00:00Z' }), '', 'on its way out')
  t.equal(told({}, network({})), '', 'it stays as it was')
  t.equal(words(checkNetworkDeletion(used(0))).length, 0)
  t.equal(words(checkNetworkDeletion(used(1))).length, 1)
})
