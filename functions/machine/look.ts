import { hash } from 'node:crypto'
import { KubeError, PersistentVolumeClaim, Secret } from '../../shared/kube/index.ts'
import { merge } from '../../shared/rules/merge.ts'
import type { Kind, KubeObject } from '../../shared/schema/kind.ts'
import { Machine } from '../../shared/schema/machine.ts'
import { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import type { Deps, Ref } from './deps.ts'
import { DataVolume, StorageClass, type VirtualMachine } from './kubevirt.ts'
import { claimName, secretName } from './names.ts'
import { neededSecret, renderCloudInit } from './render-cloud-init.ts'
import type { Seen } from './seen.ts'
import type { Store } from './store.ts'
import { machineKey } from './stores.ts'

/** Undefined also where the kind itself is not installed. */
export async function findOrAbsent<T extends KubeObject>(
  { kube }: Deps,
  kind: Kind<T>,
  { name, namespace }: Ref
): Promise<T | undefined> {
  try {
    return await kube.find(kind, name, namespace)
  } catch (err) {
    if (err instanceof KubeError && err.code === 'NotFound') return undefined
    throw err
  }
}

async function readInto<T extends KubeObject>(deps: Deps, store: Store<T>, ref: Ref): Promise<T | undefined> {
  const found = await findOrAbsent(deps, store.kind, ref)
  if (found) store.put(found)
  else store.drop(ref.name, ref.namespace)
  return found
}

/**
 * A fresh Machine and VM, everything else as the watches told it: two reads. What the watches do not know is asked for before it counts as missing.
 * With `fresh: false` nothing is read that a watch tells, for a tick that looks at everything: writes still carry what was seen.
 */
export async function look(ref: Ref, deps: Deps, fresh = true): Promise<Seen | undefined> {
  const { stores } = deps
  const { machines, vms } = stores
  const [machine, vm] = fresh
    ? await Promise.all([readInto(deps, machines, ref), vms.available ? readInto(deps, vms, ref) : undefined])
    : [machines.get(ref.name, ref.namespace), vms.get(ref.name, ref.namespace)]
  if (!machine) return undefined
  const children = machineKey(ref.namespace, ref.name)
  const [claims, dataVolumes, networks, classes, secrets] = await Promise.all([
    withNamesakes(deps, stores.claims, PersistentVolumeClaim, machine, !fresh || vm !== undefined),
    withNamesakes(deps, stores.dataVolumes, DataVolume, machine, !fresh || vm !== undefined),
    networksOf(deps, machine),
    classesOf(deps, machine),
    secretsOf(deps, machine, vm)
  ])
  return {
    machine,
    vm,
    vmi: stores.vmis.group(children)[0],
    claims,
    dataVolumes,
    networks,
    attachments: stores.attachments.group(ref.namespace),
    classes,
    ...secrets,
    absent: new Set([
      ...(vms.available ? [] : (['KubeVirt'] as const)),
      ...(stores.dataVolumes.available ? [] : (['CDI'] as const)),
      ...(stores.attachments.available ? [] : (['Multus'] as const))
    ])
  }
}

const refOf = ({ metadata: { name, namespace = '' } }: Machine): Ref => ({ name, namespace })

/** Those with our label, and whatever else bears the name of one that is wanted and not there. */
async function withNamesakes<T extends KubeObject>(
  deps: Deps,
  store: Store<T>,
  kind: Kind<T>,
  machine: Machine,
  settled: boolean
): Promise<T[]> {
  const { name, namespace } = refOf(machine)
  const own = store.group(machineKey(namespace, name))
  if (!store.available) return own
  const { disks, cdroms } = merge(machine.spec)
  const filled = kind.kind === 'DataVolume'
  const wanted = [...disks, ...cdroms].filter(({ source }) =>
    filled ? source && !source.blank && !source.containerDisk : !source?.containerDisk
  )
  const known = new Set(own.map(({ metadata }) => metadata?.name))
  const missing = wanted.map(device => claimName(name, device.name)).filter(child => !known.has(child))
  if (settled && filled) return own // CDI takes DataVolumes away when they are done
  const found = await Promise.all(missing.map(child => findOrAbsent(deps, kind, { name: child, namespace })))
  return [...own, ...found.filter(object => object !== undefined)]
}

async function networksOf(deps: Deps, machine: Machine): Promise<NetworkConfiguration[]> {
  const { networks } = deps.stores
  const { namespace } = refOf(machine)
  const wanted = new Set(machine.spec.networks?.map(({ networkName }) => networkName))
  const missing = [...wanted].filter(name => !networks.get(name, namespace))
  await Promise.all(missing.map(name => readInto(deps, networks, { name, namespace })))
  return networks.group(namespace)
}

async function classesOf(deps: Deps, machine: Machine): Promise<Set<string>> {
  const { classes } = deps.stores
  const { disks, cdroms } = merge(machine.spec)
  const wanted = new Set([...disks, ...cdroms].map(({ storageClass }) => storageClass ?? 'default'))
  wanted.delete('default')
  const missing = [...wanted].filter(name => !classes.get(name))
  const found = await Promise.all(missing.map(name => deps.kube.find(StorageClass, name)))
  return new Set([...classes.all(), ...found].flatMap(object => object?.metadata.name ?? []))
}

/** L2: what is in them goes nowhere but into the generated Secret. */
async function secretsOf(deps: Deps, machine: Machine, vm: VirtualMachine | undefined): Promise<Pick<Seen, 'source' | 'own'>> {
  const { kube, secrets, clock } = deps
  const { name, namespace } = refOf(machine)
  const needed = neededSecret(machine)
  const had =
    vm?.spec.template.spec.volumes?.some(({ cloudInitNoCloud }) => cloudInitNoCloud) ?? secrets.has(machine.metadata.uid ?? '')
  if (!machine.spec.cloudInit && !had) return { source: undefined, own: undefined }
  const source = needed ? await kube.find(Secret, needed.name, namespace) : undefined
  const { secret } = renderCloudInit(machine, source?.data)
  const known = secrets.get(machine.metadata.uid ?? '')
  const isRight = secret !== undefined && known?.print === printOf(secret) && known.until > clock().getTime()
  return { source, own: isRight ? 'unasked' : await kube.find(Secret, secretName(name), namespace) }
}

export const printOf = (secret: Secret): string => hash('sha256', JSON.stringify([secret.metadata?.labels, secret.data]))
