// What a Machine would become, for `drover render`: the objects as they would be applied. Pure.
import { PersistentVolumeClaim, Secret } from '../../shared/kube/kinds.ts'
import { apiVersion, type Kind, type KubeObject } from '../../shared/schema/kind.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import { DataVolume, NetworkAttachment, VirtualMachine } from './kubevirt.ts'
import { render, type RenderOptions } from './render.ts'
import type { NetworkOf } from './render-network.ts'
import { neededSecret, type SecretData } from './render-cloud-init.ts'

export interface Preview {
  objects: KubeObject[]
  /** What could not be rendered, since something it needs is not among the files. */
  missing: string[]
}

export function preview(
  machine: Machine,
  networkOf: NetworkOf,
  secretOf: (name: string) => SecretData | undefined,
  options: RenderOptions
): Preview {
  const needed = neededSecret(machine)
  const unknown = (machine.spec.networks ?? []).flatMap(({ networkName }) => (networkOf(networkName) ? [] : [networkName]))
  const { attachments, secret, claims, dataVolumes, vm } = render(machine, networkOf, needed && secretOf(needed.name), options)
  const objects = [
    ...attachments.map(object => named(NetworkAttachment, object, machine)),
    ...(secret ? [named(Secret, secret, machine)] : []),
    ...claims.map(object => named(PersistentVolumeClaim, object, machine)),
    ...dataVolumes.map(object => named(DataVolume, object, machine)),
    named(VirtualMachine, vm, machine)
  ]
  return { objects, missing: unknown.map(name => `NetworkConfiguration ${name}`) }
}

/** A Machine that was never stored has no uid, and so nothing that could name it as its owner. */
function named(kind: Kind, { metadata, ...rest }: KubeObject, machine: Machine): KubeObject {
  const { ownerReferences, ...without } = metadata ?? {}
  const owned = machine.metadata.uid !== undefined && ownerReferences ? { ...without, ownerReferences } : without
  return Object.assign({ apiVersion: apiVersion(kind), kind: kind.kind, metadata: owned }, rest)
}
