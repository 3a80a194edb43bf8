// X3: KubeVirt's rules that no schema holds (K1–K10), written from the specification and not from the renderer.
import type { VirtualMachine } from '../../../functions/machine/kubevirt.ts'

const repeated = (values: readonly string[]): string[] => values.filter((value, i) => values.indexOf(value) < i)
const same = (a: readonly string[], b: readonly string[]): boolean => a.toSorted().join() === b.toSorted().join()
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const present = (object: object, keys: readonly string[]): string[] => keys.filter(key => key in object)

export function semanticFaults({ spec }: VirtualMachine): string[] {
  const faults: string[] = []
  const expect = (holds: boolean, fault: string): void => {
    if (!holds) faults.push(fault)
  }
  const { domain, volumes = [], networks = [] } = spec.template.spec
  const { disks = [], interfaces = [] } = domain.devices
  expect(
    spec.running === undefined && ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once'].includes(spec.runStrategy ?? ''),
    'K1: run strategy'
  )
  expect(
    same(
      disks.map(({ name }) => name),
      volumes.map(({ name }) => name)
    ),
    'K4: disks and volumes pair'
  )
  expect(
    same(
      interfaces.map(({ name }) => name),
      networks.map(({ name }) => name)
    ),
    'K6: interfaces and networks pair'
  )
  for (const names of [disks, interfaces, networks, volumes].map(list => list.map(({ name }) => name))) {
    expect(repeated(names).length === 0 && names.every(name => label.test(name)), `K4: names ${names.join()}`)
  }
  for (const disk of disks) {
    expect(present(disk, ['disk', 'lun', 'cdrom']).length === 1, `K4: ${disk.name} is one thing`)
    expect(!disk.cdrom || disk.cdrom.bus !== 'virtio', 'K4: a CD-ROM is not virtio')
    expect(!(disk.disk?.bus === 'sata' && disk.disk.readonly), 'K4: no read-only sata disk')
    expect(['virtio', 'sata', 'scsi', 'usb'].includes((disk.disk ?? disk.cdrom)?.bus ?? ''), 'K4: bus')
  }
  const sources = ['persistentVolumeClaim', 'dataVolume', 'containerDisk', 'cloudInitNoCloud']
  for (const volume of volumes) {
    expect(present(volume, sources).length === 1, `K4: ${volume.name} has one source`)
    expect(
      !volume.cloudInitNoCloud || present(volume.cloudInitNoCloud, ['secretRef', 'networkDataSecretRef']).length > 0,
      'K10: some data'
    )
  }
  const boot = [...disks, ...interfaces].flatMap(({ bootOrder }) => bootOrder ?? [])
  expect(boot.every(order => order >= 1) && new Set(boot).size === boot.length, 'K5: boot orders')
  expect(boot.length > 0, 'B4: something boots')
  expect(networks.filter(({ pod }) => pod).length <= 1, 'K6: one pod network')
  for (const nic of interfaces) {
    expect(present(nic, ['bridge', 'masquerade']).length === 1, 'K6: one binding')
    const on = networks.find(({ name }) => name === nic.name)
    expect('masquerade' in nic === (on?.pod !== undefined), 'K6: masquerade exactly on the pod network')
    expect(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(nic.macAddress ?? '') && nic.macAddress !== '02:00:00:00:00:00', 'K6: MAC')
  }
  const features = domain['features'] as { smm?: object; acpi?: unknown } | undefined
  const firmware = domain['firmware'] as { bootloader?: { efi?: { secureBoot?: boolean } } } | undefined
  expect(firmware === undefined || typeof firmware.bootloader?.efi?.secureBoot === 'boolean', 'K9: secureBoot is said')
  expect(!firmware?.bootloader?.efi?.secureBoot || features?.smm !== undefined, 'K9: secure boot has SMM')
  expect(features === undefined || Object.values(features).every(value => typeof value === 'object'), 'K7: features are objects')
  return faults
}
