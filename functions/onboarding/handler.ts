import { Type } from 'typebox'
import { Duration } from '../../shared/runtime/config.ts'
import { novaServerChanged } from '../../shared/events/nova.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { prefixed, underPrefix } from '../../shared/openstack/config.ts'
import { hostFields, hostReactions, onBehalfOf, openHostDeps, settleNow } from '../../shared/openstack/host-function.ts'
import { serviceReaction } from '../../shared/openstack/nova-hints.ts'
import { settle, type Deps } from './act.ts'
import { checkPattern, parseCheckRule } from './checks.ts'
import { isOpen, manager } from './decide.ts'
import { isTestOf } from './smoke-test.ts'

const text = (byDefault: string, description: string) => Type.String({ default: byDefault, description })

// HV-42: today's values are the defaults
const config = Type.Object({
  ...hostFields,
  ...prefixed('test'),
  testOsProjectName: text('test', 'project of the test servers'),
  testOsProjectDomainName: text('cc3test', 'its domain'),
  testAggregate: text('tenant_filter_tests', 'where a host is while it is tested'),
  testImage: text('cirros-kvm', 'image of the test servers'),
  testFlavor: text('1', 'flavor id of the test servers'),
  testNetwork: text('first', 'a network by name, `first` that is not shared, or `none`'),
  testVolumeType: Type.String({ default: 'premium', description: 'type of the boot volume' }),
  testVolumeSizeGib: Type.Integer({ default: 64, minimum: 0, description: 'its size; 0 boots without a volume' }),
  testPrefix: text('ohooc-', 'how the names of test servers begin'),
  testConsoleText: text('{name}', 'what the console must show'),
  testNetworkText: text('', 'what it shows once the network is reached; empty: not asked (HV-43)'),
  testAttachGib: Type.Integer({ default: 0, minimum: 0, description: 'size of a second volume to attach; 0: none (HV-43)' }),
  testLiveMigration: Type.Boolean({ default: false, description: 'move the test server away and back (HV-43)' }),
  prechecks: Type.Array(Type.String({ pattern: checkPattern }), {
    default: [],
    description:
      'what must be well before the host is enabled: libvirt, bridges, storage, each as libvirt=fail or libvirt=warn (HV-43)'
  }),
  minLibvirt: text('', 'the oldest libvirt that the check takes, as 9.0; empty: any'),
  testTimeout: Duration({ default: '5m', description: 'from the order to the text on the console' }),
  testAttempts: Type.Integer({ default: 5, minimum: 1, description: 'tests that may fail (HV-39)' }),
  testFirstWait: Duration({ default: '1m', description: 'after the first failure; doubled after each' }),
  nameForms: Type.Array(Type.String(), { default: [], description: 'further names in Nova, as {name}.example.com (HV-28)' }),
  serviceTakeover: Type.Boolean({ default: false, description: 'enable a service that others disabled (HV-32)' }),
  haMode: Type.Enum(['drover', 'external', 'observe', 'off'], {
    default: 'off',
    description: 'who enables high availability (HV-41)'
  })
})

export default defineFunction({
  name: 'onboarding',
  config,

  async open(given, platform): Promise<Deps> {
    const host = await openHostDeps(manager, given, platform)
    const { openCloud } = await import('../../shared/openstack/connect.ts')
    return {
      ...host,
      testCloud: await openCloud(underPrefix(given, 'test'), platform, manager),
      test: {
        image: given.testImage,
        flavor: given.testFlavor,
        network: given.testNetwork,
        volumeType: given.testVolumeType,
        volumeSizeGiB: given.testVolumeSizeGib,
        attachGiB: given.testAttachGib,
        networkText: given.testNetworkText,
        consoleText: given.testConsoleText
      },
      checks: given.prechecks.map(parseCheckRule),
      minLibvirt: given.minLibvirt,
      options: {
        nameForms: given.nameForms,
        testAggregate: given.testAggregate,
        prefix: given.testPrefix,
        maxAttempts: given.testAttempts,
        testTimeoutMs: given.testTimeout,
        firstWaitMs: given.testFirstWait,
        liveMigration: given.testLiveMigration,
        takeover: given.serviceTakeover,
        haMode: given.haMode
      }
    }
  },

  reactions: [
    ...hostReactions<Deps>({ changed: ['created', 'labels', 'annotations', 'spec', 'conditions'], settle, isOpen }),
    serviceReaction<Deps>({ settle }, ({ options }) => options.nameForms),
    // HV-43: Nova says how far a test server is; all others are nobody's business here
    on(novaServerChanged, { key: ({ data }) => data.server }, async ({ data: { name = '' } }, opened: Deps, call) => {
      const { prefix } = opened.options
      if (!name.startsWith(prefix)) return
      const deps = onBehalfOf(call, opened)
      const tested = (await deps.kube.list(Hypervisor)).items.find(hypervisor => isTestOf(hypervisor, prefix, name))
      if (tested) await settleNow({ settle }, tested.metadata.name, deps)
    })
  ]
})
