// What of a live VM is kept although the Machine does not say it (M3, M7, N2). Pure.
import type { RunStrategy, VirtualMachine } from './kubevirt.ts'

const observedStrategy = ({ spec }: VirtualMachine): RunStrategy =>
  spec.runStrategy ?? (spec.running === false ? 'Halted' : 'Always')

export interface Kept {
  /** `powerState` is unset: power belongs to others after creation. */
  power: boolean
  /** A NetworkConfiguration is missing: the present networks stay. */
  networks: boolean
}

export function carryOver(wanted: VirtualMachine, live: VirtualMachine | undefined, kept: Kept): VirtualMachine {
  if (!live) return wanted
  const { template } = wanted.spec
  const { domain } = template.spec
  const plugged = hotplugged(wanted, live)
  const { interfaces, networkInterfaceMultiqueue: _queues, ...devices } = domain.devices
  const nics = kept.networks
    ? nicsOf(live)
    : { interfaces, networks: template.spec.networks, multiqueue: domain.devices.networkInterfaceMultiqueue }
  const spec = {
    ...template.spec,
    domain: {
      ...domain,
      devices: {
        ...devices,
        disks: [...(devices.disks ?? []), ...plugged.disks],
        ...(nics.interfaces && { interfaces: nics.interfaces }),
        ...(nics.multiqueue && { networkInterfaceMultiqueue: true })
      }
    },
    ...(nics.networks && { networks: nics.networks }),
    volumes: [...(template.spec.volumes ?? []), ...plugged.volumes]
  }
  return {
    ...wanted,
    // the version that was looked at: whoever stops the machine meanwhile is not undone (M3, CF2)
    metadata: {
      ...wanted.metadata,
      ...(live.metadata.resourceVersion !== undefined && { resourceVersion: live.metadata.resourceVersion })
    },
    spec: { ...wanted.spec, ...(kept.power && { runStrategy: observedStrategy(live) }), template: { ...template, spec } }
  }
}

function nicsOf({ spec }: VirtualMachine) {
  const { networks, domain } = spec.template.spec
  return { interfaces: domain.devices.interfaces, networks, multiqueue: domain.devices.networkInterfaceMultiqueue }
}

/** M7: volumes that somebody plugged into the running machine, with their disks. */
function hotplugged(wanted: VirtualMachine, live: VirtualMachine) {
  const ours = new Set(wanted.spec.template.spec.volumes?.map(({ name }) => name))
  const { volumes = [], domain } = live.spec.template.spec
  const plugged = volumes.filter(
    ({ name, persistentVolumeClaim, dataVolume }) =>
      !ours.has(name) && (persistentVolumeClaim?.hotpluggable || dataVolume?.hotpluggable)
  )
  const names = new Set(plugged.map(({ name }) => name))
  return { volumes: plugged, disks: (domain.devices.disks ?? []).filter(({ name }) => names.has(name)) }
}
