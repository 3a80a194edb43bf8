import { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { KubeError } from '../../shared/kube/index.ts'
import { attachmentsToWrite, authorOf, isManaged, unusedAttachments } from './attachments.ts'
import type { Deps, Ref } from './deps.ts'
import { NetworkAttachment, VirtualMachine } from './kubevirt.ts'
import { findOrAbsent } from './look.ts'
import { attachmentName } from './names.ts'
import { reflectNetwork } from './network-status.ts'
import { renderAttachment } from './render-network.ts'
import { machineKey } from './stores.ts'

/** NC2: a Machine counts until its VM and VMI are gone. */
function machinesOf({ stores }: Deps, namespace: string, gone?: string) {
  return stores.machines.group(namespace).filter(({ metadata }) => {
    if (metadata.name === gone) return false
    if (metadata.deletionTimestamp === undefined) return true
    const children = machineKey(namespace, metadata.name)
    return stores.vms.group(children).length > 0 || stores.vmis.group(children).length > 0
  })
}

/** The status of one NetworkConfiguration, and its attachment where Machines use it. `gone` is a Machine that is on its last step. */
export async function settleNetwork({ namespace, name }: Ref, deps: Deps, gone?: string): Promise<void> {
  const { kube, stores, options, clock, metrics } = deps
  const network = stores.networks.get(name, namespace)
  if (!network) return
  const started = performance.now()
  const { nadRef } = network.spec
  const referenced = nadRef
    ? (await findOrAbsent(deps, NetworkAttachment, { name: nadRef.name, namespace: nadRef.namespace ?? namespace })) !== undefined
    : false
  const machines = machinesOf(deps, namespace, gone)
  const networks = stores.networks.group(namespace)
  const status = reflectNetwork(
    { network, machines, networks, attachments: stores.attachments.group(namespace), referenced, options },
    clock()
  )
  if (status.machineCount && network.spec.bridge !== undefined) await correctAttachment(network, deps)
  const written = await kube
    .applyStatus(NetworkConfiguration, { metadata: { name, namespace }, status }, { live: network })
    .catch(orGone)
  if (written) stores.networks.put(written)
  if (status.conditions?.[0]?.reason === 'NameConflict') metrics.failed('NetworkConfiguration', 'NameConflict')
  metrics.reconciled('NetworkConfiguration', (performance.now() - started) / 1000)
}

/** A changed mtu reaches an attachment that is there already; making one is left to the Machine's own pass. */
async function correctAttachment(network: NetworkConfiguration, { kube, stores, options }: Deps): Promise<void> {
  const { namespace = '' } = network.metadata
  const attachments = stores.attachments.group(namespace)
  const author = authorOf(attachmentName(network.spec), stores.networks.group(namespace))
  if (author?.metadata.name !== network.metadata.name) return
  for (const { attachment, live } of attachmentsToWrite({ attachments }, [
    renderAttachment(namespace, network.spec, options.cniVersion)
  ])) {
    if (live && isManaged(live)) stores.attachments.put(await kube.apply(NetworkAttachment, attachment, { live }))
  }
}

/** F4. All VMs of the namespace are asked for, also those of others. */
export async function sweepAttachments(namespace: string, deps: Deps, gone?: string): Promise<void> {
  const { kube, stores } = deps
  const ours = stores.attachments.group(namespace).filter(isManaged)
  if (ours.length === 0) return
  const vms = stores.vms.available ? (await kube.list(VirtualMachine, { namespace })).items : []
  const machines = machinesOf(deps, namespace, gone)
  for (const { metadata } of unusedAttachments(ours, vms, stores.networks.group(namespace), machines)) {
    const { name, uid } = metadata
    await kube.delete(NetworkAttachment, { name, namespace, uid })
    stores.attachments.drop(name, namespace)
  }
}

/** The object, or its kind, went away while it was written about. */
export const orGone = (err: unknown): undefined => {
  if (err instanceof KubeError && err.code === 'NotFound') return undefined
  throw err
}
