// A Machine as KubeVirt objects (spec/machine.md §5). Pure: equal input gives byte-identical output.
import type { Secret } from '../../shared/kube/kinds.ts'
import { merge, type Merged } from '../../shared/rules/merge.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { DataVolume, DiskDevice, Interface, NetworkAttachment, VirtualMachine } from './kubevirt.ts'
import { childMeta, labelsOf } from './names.ts'
import { renderCloudInit, type SecretData } from './render-cloud-init.ts'
import { renderDomain } from './render-domain.ts'
import { renderAttachment, renderNics, type NetworkOf } from './render-network.ts'
import { renderClaims, renderDataVolumes, renderDisks, renderVolumes, type Claim } from './render-storage.ts'

export interface RenderOptions {
  architecture: 'amd64' | 'arm64'
  macSeed: string
  cniVersion: string
  /** Whether a StorageClass is literally called `default` (S3). */
  hasClassDefault: boolean
}

export interface Rendered {
  attachments: NetworkAttachment[]
  secret?: Secret
  claims: Claim[]
  dataVolumes: DataVolume[]
  vm: VirtualMachine
}

export function render(machine: Machine, networkOf: NetworkOf, secret: SecretData | undefined, options: RenderOptions): Rendered {
  const merged = merge(machine.spec)
  const cloudInit = renderCloudInit(machine, secret)
  return sorted({
    attachments: renderAttachments(machine, merged, networkOf, options),
    ...(cloudInit.secret && { secret: cloudInit.secret }),
    claims: renderClaims(machine, merged, options),
    dataVolumes: renderDataVolumes(machine, merged, options),
    vm: renderVm(machine, merged, cloudInit.volume, networkOf, options)
  })
}

function renderAttachments(
  machine: Machine,
  { networks }: Merged,
  networkOf: NetworkOf,
  { cniVersion }: RenderOptions
): NetworkAttachment[] {
  const bridged = networks
    .flatMap(({ networkName }) => networkOf(networkName)?.spec ?? [])
    .filter(({ bridge }) => bridge !== undefined)
  const attachments = bridged.map(spec => renderAttachment(machine.metadata.namespace ?? '', spec, cniVersion))
  return [...new Map(attachments.map(attachment => [attachment.metadata.name, attachment])).values()]
}

function renderVm(
  machine: Machine,
  merged: Merged,
  cloudInit: ReturnType<typeof renderCloudInit>['volume'],
  networkOf: NetworkOf,
  options: RenderOptions
): VirtualMachine {
  const { powerState, evictionStrategy, bootOrder } = machine.spec
  const disks = renderDisks(merged, options)
  const { interfaces, networks } = renderNics(machine, merged, networkOf, options)
  numberBoot(disks, interfaces, bootOrder)
  if (cloudInit) disks.push({ name: cloudInit.name, disk: { bus: 'virtio' } })
  const { cores, threads, sockets } = merged.cpu
  const multiqueue = cores * threads * sockets > 1 && interfaces.some(({ model }) => model === 'virtio') // N5
  return {
    metadata: childMeta(machine, machine.metadata.name),
    spec: {
      runStrategy: powerState === 'Stopped' ? 'Halted' : 'Always', // M3
      template: {
        metadata: { labels: labelsOf(machine) },
        spec: {
          ...(evictionStrategy !== undefined && { evictionStrategy }),
          domain: {
            ...renderDomain(machine, merged, options),
            devices: { ...(multiqueue && { networkInterfaceMultiqueue: true }), disks, interfaces }
          },
          networks,
          volumes: [...renderVolumes(machine, merged), ...(cloudInit ? [cloudInit] : [])]
        }
      }
    }
  }
}

/** B1, B2: one count over all devices, class by class. */
function numberBoot(disks: DiskDevice[], interfaces: Interface[], order: Machine['spec']['bootOrder']): void {
  const classes = { disk: disks.filter(({ disk }) => disk), cdrom: disks.filter(({ cdrom }) => cdrom), network: interfaces }
  const devices = order ? order.flatMap((name): Array<DiskDevice | Interface> => classes[name]) : classes.disk.slice(0, 1)
  devices.forEach((device, i) => {
    device.bootOrder = i + 1
  })
}

/** T5: keys in order, so that equal means equal byte by byte. */
export function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sorted) as T
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[name]
    if (field !== undefined) result[name] = sorted(field)
  }
  return result as T
}
