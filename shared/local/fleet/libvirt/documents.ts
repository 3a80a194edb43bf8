// What the simulated libvirt says of its host: two NUMA cells, KVM, the devices that Nova uses.

export interface Machine {
  cells: number
  cpusInCell: number
  memoryGiBInCell: number
}

export const machine: Machine = { cells: 2, cpusInCell: 48, memoryGiBInCell: 384 }

const range = (length: number): number[] => Array.from({ length }, (_, at) => at)

export function capabilitiesXml({ cells, cpusInCell, memoryGiBInCell }: Machine): string {
  const cell = (id: number): string => {
    const cpus = range(cpusInCell).map(at => `<cpu id="${id * cpusInCell + at}" socket_id="${id}" core_id="${at}"/>`)
    const memory = `<memory unit="KiB">${memoryGiBInCell * 1024 * 1024}</memory>`
    return `<cell id="${id}">${memory}<cpus num="${cpusInCell}">${cpus.join('')}</cpus></cell>`
  }
  const topology = `<topology><cells num="${cells}">${range(cells).map(cell).join('')}</cells></topology>`
  return `<capabilities><host><cpu><arch>x86_64</arch></cpu>${topology}</host></capabilities>`
}

const list = (name: string, values: readonly string[]): string =>
  `<enum name="${name}">${values.map(value => `<value>${value}</value>`).join('')}</enum>`

export const domainCapabilitiesXml = `<domainCapabilities>
  <path>/usr/bin/qemu-system-x86_64</path><domain>kvm</domain><machine>pc-q35-7.2</machine><arch>x86_64</arch>
  <cpu>
    <mode name="host-passthrough" supported="yes">${list('hostPassthroughMigratable', ['on', 'off'])}</mode>
    <mode name="host-model" supported="yes"/>
    <mode name="custom" supported="yes"/>
  </cpu>
  <devices>
    <disk supported="yes">${list('diskDevice', ['disk', 'cdrom'])}${list('bus', ['virtio', 'scsi'])}</disk>
    <video supported="yes">${list('modelType', ['virtio', 'none'])}</video>
    <hostdev supported="yes">${list('mode', ['subsystem'])}</hostdev>
    <rng supported="yes">${list('model', ['virtio'])}</rng>
    <tpm supported="no"/>
  </devices>
  <features><gic supported="no"/><vmcoreinfo supported="yes"/><genid supported="yes"/><sev supported="no"/></features>
</domainCapabilities>`
