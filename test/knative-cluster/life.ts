// A new version while hosts come in, and the end of the installation: as README tells, and the objects stay.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { Node } from '../../shared/kube/index.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { virtDriver } from './hosts.ts'
import { everyServiceReady } from './installed.ts'
import { nextTag, overlay } from './overlay.ts'
import { listed, patience, type World } from './world.ts'

const root = join(import.meta.dirname, '../..')
const image = 'ghcr.io/drover/drover'
const services = '/apis/serving.knative.dev/v1/namespaces/drover/services'

const identities = async ({ admin }: World): Promise<Map<string, string | undefined>> => {
  const { items } = await admin.list(Hypervisor)
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]))
}

/** The next version is the same image by another tag: what is looked at is what happens around it. */
export async function upgraded(t: Test, world: World): Promise<void> {
  const { admin, cluster } = world
  const before = await identities(world)
  const ctr = ['ctr', '-a', join(cluster.folder, 'run/containerd.sock'), '-n', 'k8s.io']
  await cluster.inside([...ctr, 'images', 'tag', '--force', `${image}:0.1.0`, `${image}:${nextTag}`])
  await cluster.kubectl(['apply', '-k', join(root, 'crds')])
  const rolled = new AbortController()
  const roll = async () => {
    await cluster.kubectl(['apply', '-k', await overlay(cluster, { tag: nextTag })])
    await everyServiceReady(world)
  }
  const [names] = await Promise.all([hostsUntil(world, rolled.signal), roll().finally(() => rolled.abort())])
  for (const name of names) await eventually(`the Hypervisor ${name}`, () => admin.find(Hypervisor, name), patience)
  t.comment(`${names.length} hosts came in meanwhile`)
  const after = await identities(world)
  t.strictSame(
    [...before].filter(([name, uid]) => after.get(name) !== uid),
    [],
    'what was there is there'
  )
  for (const { metadata, spec } of await listed(cluster, services))
    t.equal(spec['template'].spec.containers[0].image, `${image}:${nextTag}`, metadata.name)
}

/** One every two seconds, but no more than two cores can follow while they start twenty functions anew: each is told to eight of them. */
async function hostsUntil({ admin, tag }: World, signal: AbortSignal): Promise<string[]> {
  const names: string[] = []
  while (!signal.aborted) {
    const name = `${tag}-upgrade-${names.length}`
    if (names.length < 15) {
      await admin.create(Node, { metadata: { name, labels: virtDriver } })
      names.push(name)
    }
    await sleep(2000)
  }
  return names
}

export async function uninstalled(t: Test, world: World): Promise<void> {
  const { admin, cluster } = world
  const before = await identities(world)
  await cluster.kubectl(['delete', 'broker', 'default', '-n', 'drover'])
  await cluster.kubectl(['delete', '--ignore-not-found', '-k', join(root, 'knative')])
  t.equal(
    await cluster.kubectl(['get', '--ignore-not-found', '-o', 'name', '-k', join(root, 'knative')]),
    '',
    'all of it is gone'
  )
  for (const path of [services, '/apis/eventing.knative.dev/v1/namespaces/drover/triggers', '/api/v1/namespaces/drover/pods'])
    t.strictSame(await listed(cluster, path), [], path)
  t.strictSame(await identities(world), before, 'the objects stay')
  await admin.patch(Hypervisor, { name: [...before.keys()][0] ?? '' }, { metadata: { labels: { still: 'here' } } })
  t.pass('and can be written: no webhook is left behind')
  const namespaces = new Set((await listed(cluster, '/api/v1/namespaces')).map(({ metadata }) => metadata.name))
  for (const [name, there] of Object.entries({ monsoon3: true, 'ovn-system': true, drover: false }))
    t.equal(namespaces.has(name), there, name)
}
