import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { fromApiServerSource } from '../../shared/events/apiserver.ts'
import { allKinds } from '../../shared/events/index.ts'
import type { Received } from '../../shared/events/kind.ts'
import { withTable } from '../../shared/events/table.ts'

const readme = await readFile(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')

t.test('README shows the table as the code has it: `npm run docs`', async t => t.equal(withTable(readme), readme))

t.test('no type occurs twice', async t => {
  const types = allKinds.map(({ type }) => type)
  t.strictSame(
    types.filter((type, index) => types.indexOf(type) !== index),
    []
  )
})

t.test('our own types are reverse-DNS, noun, past participle, version', async t => {
  for (const { type } of allKinds)
    if (!type.startsWith('dev.knative.')) t.match(type, /^[a-z0-9]+(\.[a-z0-9]+)+\.[a-z-]+\.[a-z]+(ed|nt|st|en)\.v\d$/)
})

t.test('every event of the specs is in the table', async t => {
  const types = new Set(allKinds.map(({ type }) => type))
  const names = (prefix: string, list: string) => list.split(' ').map(name => `${prefix}.${name}.v1`)
  const specified = [
    // spec/ha.md §2
    ...names(
      'sap.cloud.kvm',
      'domain.changed domain.stopped domain.crashed postcopy.failed domain.rebooted watchdog.fired disk.failed'
    ),
    ...names(
      'sap.cloud.kvm',
      'domain-control.lost guest-agent.connected guest-agent.disconnected memory.failed migration.progressed'
    ),
    ...names(
      'sap.cloud.kvm',
      'migration.ended libvirt.lost libvirt.restored heartbeat.missed shutdown.requested shutdown.cancelled kernel.crashed'
    ),
    // HA-50, EV-27
    ...names(
      'sap.cloud.kvm',
      'verdict.changed gate.evaluated fence.requested fence.proven fence.failed server.evacuated server.recovered'
    ),
    ...names('sap.cloud.kvm', 'server.blocked decision.closed eviction.started server.moved eviction.finished'),
    // spec/ovs.md §4, OV-27, OV-53, OV-65
    ...['bond-member', 'bond', 'bridge', 'vswitchd', 'ovsdb'].flatMap(noun =>
      names('io.c5c3.ovs', `${noun}.lost ${noun}.restored`)
    ),
    ...names(
      'io.c5c3.ovs',
      'ovn-controller.disconnected ovn-controller.reconnected port.orphaned port.reclaimed flows.outdated flows.refreshed'
    ),
    ...names('io.c5c3.ovs', 'link.flapped agent.lost capture.started capture.ended'),
    // spec/machine.md V2
    ...names('io.vitistack', 'machine.created machine.started machine.stopped machine.failed machine.recovered machine.deleted')
  ]
  t.strictSame(
    specified.filter(type => !types.has(type)),
    []
  )
})

const received = (type: string, extensions: Record<string, string>): Received => ({
  id: '1',
  type,
  source: 's',
  data: {},
  extensions
})
const host = { kind: 'Hypervisor', name: 'hv1', namespace: '', apiversion: 'kvm.cloud.sap/v1' }
const cases: Array<[name: string, given: Received, type: string | undefined, data?: object]> = [
  [
    'a cluster-scoped object',
    received('dev.knative.apiserver.resource.add', host),
    'sap.cloud.kvm.hypervisor.changed.v1',
    { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'hv1' }
  ],
  ['its deletion, by reference', received('dev.knative.apiserver.ref.delete', host), 'sap.cloud.kvm.hypervisor.deleted.v1'],
  [
    'the core group',
    received('dev.knative.apiserver.ref.update', { kind: 'Node', name: 'n', apiversion: 'v1' }),
    'io.k8s.node.changed.v1'
  ],
  [
    'a namespaced object',
    received('dev.knative.apiserver.resource.update', {
      kind: 'Machine',
      name: 'm',
      namespace: 't',
      apiversion: 'vitistack.io/v1alpha1'
    }),
    'io.vitistack.machine.changed.v1',
    { namespace: 't' }
  ],
  ['another type', received('io.k8s.node.changed.v1', host), undefined],
  ['no name', received('dev.knative.apiserver.ref.add', { kind: 'Node', apiversion: 'v1' }), undefined]
]
for (const [name, given, type, data = {}] of cases) {
  t.test(`ApiServerSource: ${name}`, async t => {
    const own = fromApiServerSource(given)
    t.equal(own?.type, type)
    if (own) t.match(own.data, data)
    t.equal(own?.changed, undefined)
  })
}
