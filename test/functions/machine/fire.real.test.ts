// Deletion under fire (F1–F8), on the real API server. Two replicas under the role of knative/machine.yaml.
import * as fc from 'fast-check'
import t from 'tap'
import type { Deps } from '../../../functions/machine/deps.ts'
import {
  DataVolume,
  NetworkAttachment,
  StorageClass,
  VirtualMachine,
  VirtualMachineInstance
} from '../../../functions/machine/kubevirt.ts'
import { config } from '../../../functions/machine/config.ts'
import { openDeps } from '../../../functions/machine/open.ts'
import { settle } from '../../../functions/machine/pass.ts'
import { PersistentVolumeClaim, Secret, type Kube } from '../../../shared/kube/index.ts'
import { readConfig } from '../../../shared/runtime/config.ts'
import { createLog } from '../../../shared/runtime/log.ts'
import { Machine } from '../../../shared/schema/machine.ts'
import { NetworkConfiguration } from '../../../shared/schema/network-configuration.ts'
import { Registry } from 'prom-client'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { installMachineCrds } from '../../servers/machine-crds.ts'
import { request } from '../../servers/request.ts'
import { gone, openWorld, playInstance } from './world.ts'

t.setTimeout(120_000)
const api = await ownKubernetes(t)
await installMachineCrds(api)
const world = await openWorld(t, api)
const second = world.start()
const { admin, poke, post } = world
const ns = api.namespace
await admin.create(StorageClass, { metadata: { name: 'shared' }, provisioner: 'none.example' } as unknown as StorageClass)
await admin.create(NetworkConfiguration, { metadata: { name: 'net', namespace: ns }, spec: { bridge: 'br0', vlan: 5 } })

const canary = 'CANARY-4711-never-to-be-seen'
const spec: Machine['spec'] = {
  template: 'small',
  disks: [
    { name: 'data', size: '1Gi', storageClass: 'shared' },
    { name: 'image', size: '1Gi', source: { http: { url: 'http://images.example.org/a' } } }
  ],
  networks: [{ name: 'eth0', networkName: 'net' }],
  cloudInit: { userData: `#cloud-config\n# ${canary}\n` }
}

class Killed extends Error {}

const closers: Array<() => void | Promise<void>> = []
const whole = await openDeps(readConfig(config, { env: { KUBECONFIG: world.kubeconfig } }), {
  log: createLog({ name: 'dying', level: 'silent' }),
  clock: () => new Date(),
  emit: async () => {},
  metrics: new Registry(),
  signal: new AbortController().signal,
  onClose: close => void closers.push(close)
})
t.teardown(async () => {
  for (const close of closers) await close()
})

/** The function as it is when the process dies at its n-th write: that one and all later calls never happen. */
function dying(n: number): Deps {
  let left = n
  const writes = new Set<string>(['create', 'apply', 'applyStatus', 'patch', 'delete', 'event'])
  const kube = new Proxy(whole.kube, {
    get(target, name: keyof Kube) {
      const method = target[name] as (...args: unknown[]) => unknown
      if (!writes.has(name)) return left < 0 ? () => Promise.reject(new Killed()) : method
      return (...args: unknown[]) => ((left -= 1) < 0 ? Promise.reject(new Killed()) : method(...args))
    }
  })
  return { ...whole, kube, secrets: new Map() }
}

/** True when it died. */
async function diesAt(n: number, name: string): Promise<boolean> {
  try {
    await settle({ namespace: ns, name }, dying(n))
    return false
  } catch (err) {
    if (!(err instanceof Killed)) throw err
    return true
  }
}

const kinds: Array<[kind: string, type: string, child: string]> = [
  ['Machine', 'io.vitistack.machine.changed.v1', ''],
  ['VirtualMachine', 'io.kubevirt.virtualmachine.deleted.v1', ''],
  ['VirtualMachineInstance', 'io.kubevirt.virtualmachineinstance.deleted.v1', ''],
  ['PersistentVolumeClaim', 'io.k8s.persistentvolumeclaim.deleted.v1', '-data'],
  ['DataVolume', 'io.kubevirt.cdi.datavolume.deleted.v1', '-image']
]
/** Its own event three times and that of each child, at once and in an order of chance, to both replicas. */
async function storm(name: string): Promise<void> {
  const events = [...kinds.slice(0, 1), ...kinds.slice(0, 1), ...kinds]
  const shuffled = fc.sample(fc.shuffledSubarray(events, { minLength: events.length }), 1)[0] ?? []
  await Promise.all(
    shuffled.map(([kind, type, child], i) =>
      post(
        i % 2 === 0 ? world.service : second,
        type,
        { apiVersion: 'x/v1', kind, namespace: ns, name: `${name}${child}` },
        { 'ce-partitionkey': `${ns}/${name}` }
      )
    )
  )
}

const leftovers = async (name: string): Promise<string[]> => {
  const selector = { namespace: ns, labelSelector: `vitistack.io/machine=${name}` }
  const lists = await Promise.all([
    admin.list(VirtualMachine, selector),
    admin.list(PersistentVolumeClaim, selector),
    admin.list(DataVolume, selector),
    admin.list(Secret, selector)
  ])
  return lists.flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind} ${metadata?.name}`))
}

t.test('killed at any step of making or deleting it: nothing is left, the finalizer goes last, neighbours stay', async t => {
  await admin.create(Machine, { metadata: { name: 'neighbour', namespace: ns }, spec })
  t.equal(await poke(ns, 'neighbour'), 204)
  const before = await leftovers('neighbour')
  t.equal(before.length, 5)
  let steps = 0
  for (const stage of ['making', 'deleting'] as const) {
    for (let n = 0, dies = true; dies; n++) {
      const name = `${stage}-${n}`
      await admin.create(Machine, { metadata: { name, namespace: ns }, spec })
      if (stage === 'making') dies = await diesAt(n, name)
      else {
        await poke(ns, name)
        if (n % 3 === 0) await playInstance(world, ns, name, { phase: 'Running' })
      }
      await admin.delete(Machine, { name, namespace: ns })
      if (stage === 'deleting') dies = await diesAt(n, name)
      await gone(name, async () => {
        if (await admin.find(VirtualMachineInstance, name, ns))
          await admin.delete(VirtualMachineInstance, { name, namespace: ns })
        await storm(name)
        return admin.find(Machine, name, ns)
      })
      t.strictSame(await leftovers(name), [], name)
      steps++
    }
  }
  t.ok(steps > 12, `${steps} places to die at`)
  t.strictSame(await leftovers('neighbour'), before, 'nothing of another Machine was touched')
  t.ok(await admin.find(NetworkAttachment, 'br0-vlan5', ns), 'which still needs the attachment')
  await admin.delete(Machine, { name: 'neighbour', namespace: ns })
  await gone('the neighbour', async () => {
    await storm('neighbour')
    return admin.find(Machine, 'neighbour', ns)
  })
  t.equal(await admin.find(NetworkAttachment, 'br0-vlan5', ns), undefined, 'the last one out')
})

t.test('L2: what is in user data is seen nowhere but in its Secret', async t => {
  t.notOk(
    world.logs.some(line => line.includes(canary)),
    'logs'
  )
  t.notOk(
    world.told.some(({ body }) => body.includes(canary)),
    'CloudEvents'
  )
  const events = await request(api, 'GET', `/apis/events.k8s.io/v1/namespaces/${ns}/events`)
  t.notOk(JSON.stringify(events.body).includes(canary), 'Events')
})
