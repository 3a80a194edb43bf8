// The embedded Kubernetes API and the fake OpenStack in a process of their own, so that what is measured is the functions alone.
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { connect } from '../../../shared/kube/index.ts'
import { startKubeApi } from '../../../shared/local/kube-api/index.ts'
import { startOpenStack } from '../../../shared/local/openstack/index.ts'
import { settleAll } from '../../../shared/runtime/settle-all.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'

export interface Serving {
  kubeconfig: string
  folder: string
  authUrl: string
  password: string
}

/** What was asked since the last time: of OpenStack, without tokens and versions. */
export interface Asked {
  requests: string[]
}

const folder = join(import.meta.dirname, '..', '..', '..', 'crds')
const files = (await readdir(folder)).filter(name => name.endsWith('.yaml') && name !== 'kustomization.yaml')
const crds = await Promise.all(files.map(async name => parse(await readFile(join(folder, name), 'utf8')) as object))
const count = Number(process.argv[2] ?? 0)
const names = Array.from({ length: count }, (_, index) => `host${index}`)
const traitsOf = (index: number): string[] => ['CUSTOM_FLEET', ...(index % 2 === 0 ? ['CUSTOM_EVEN'] : [])]

const fake = await startOpenStack({ hosts: names })
fake.addAggregate('zone-a', 'zone-a', [...names])
fake.addAggregate('general', null, [...names])
fake.addAggregate('tenant_filter_tests')
for (const trait of ['CUSTOM_FLEET', 'CUSTOM_EVEN']) fake.world.traits.add(trait)
const hypervisors = names.map((name, index) => {
  const { id, serviceId } = fake.host(name)
  for (const trait of traitsOf(index)) fake.world.providers.get(id)?.traits.add(trait)
  const done = {
    type: 'Onboarding',
    status: 'False' as const,
    reason: 'Succeeded',
    message: 'Handed over.',
    lastTransitionTime: '2026-01-01T00:00:00Z'
  }
  return {
    metadata: { name, labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
    spec: { aggregates: ['general', 'zone-a'], customTraits: traitsOf(index) },
    status: {
      numInstances: 0,
      hypervisorId: id,
      serviceId: serviceId ?? '',
      nova: { host: name, hypervisorHostname: name },
      conditions: [done]
    }
  }
})
const api = await startKubeApi({ objects: crds })
const state = await mkdtemp(join(tmpdir(), 'drover-bench-'))
const kubeconfig = join(state, 'kubeconfig')
await api.writeKubeconfig(kubeconfig)
const kube = await connect({ manager: 'bench', kubeconfig })
await settleAll(hypervisors, async ({ metadata, spec, status }) => {
  await kube.create(Hypervisor, { metadata, spec })
  await kube.applyStatus(Hypervisor, { metadata: { name: metadata.name }, status })
})
kube.close()
process.on('message', () => {
  const requests = fake.requests
    .filter(({ service, path }) => service !== 'identity' && path !== '/')
    .map(({ method, path }) => `${method} ${path}`)
  fake.forget()
  process.send?.({ requests } satisfies Asked)
})
process.on('disconnect', () => process.exit())
process.send?.({ kubeconfig, folder: state, authUrl: fake.authUrl, password: fake.account.password } satisfies Serving)
