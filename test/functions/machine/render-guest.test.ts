// Cloud-init, features, machine type and firmware: the rules C and K.
import t from 'tap'
import { render, type RenderOptions } from '../../../functions/machine/render.ts'
import { foundKey } from '../../../functions/machine/render-cloud-init.ts'
import { machine, networkOf, options, type Spec, guest } from './fixtures.ts'

t.test('C1–C6: cloud-init', async t => {
  const source = { userdata: 'dXNlcg==', mine: 'bWluZQ==' }
  const from = (cloudInit: Spec['cloudInit']) => {
    const { secret, vm } = render(machine({ template: 'small', ...(cloudInit && { cloudInit }) }), networkOf, source, options)
    return [secret?.data, vm.spec.template.spec.volumes?.find(({ name }) => name === 'cloudinitdisk')?.cloudInitNoCloud]
  }
  const own = { name: 'm-cloudinit' }
  t.strictSame(from(undefined), [undefined, undefined], 'C1')
  t.strictSame(from({}), [undefined, undefined])
  t.strictSame(from({ userData: 'a', secretRef: { name: 's' } }), [{ userdata: 'YQ==' }, { secretRef: own }], 'C2: inline wins')
  t.strictSame(from({ secretRef: { name: 's' } }), [undefined, { secretRef: { name: 's' } }], 'C4')
  t.strictSame(from({ secretRef: { name: 's', key: 'userData' } }), [undefined, { secretRef: { name: 's' } }], 'C4')
  t.strictSame(from({ secretRef: { name: 's', key: 'mine' } }), [{ userdata: 'bWluZQ==' }, { secretRef: own }], 'C3: copied')
  t.strictSame(from({ secretRef: { name: 's' }, networkData: 'n' }), [
    { networkdata: 'bg==', userdata: 'dXNlcg==' },
    { networkDataSecretRef: own, secretRef: own }
  ])
  t.equal(foundKey({ userData: 'x' }, 'userdata'), 'userData', 'C4: in either spelling')
  t.equal(foundKey({ userdata: 'x', userData: 'y' }, 'userData'), 'userData', 'C4: that which was asked for first')
  t.equal(foundKey({ userdata: 'x' }, 'mine'), undefined, 'C5')
  t.strictSame(from({ networkData: 'n' }), [{ networkdata: 'bg==' }, { networkDataSecretRef: own }], 'C6')
})

t.test('K7–K9: features, machine type and firmware', async t => {
  const domain = (given: Spec['domain'], more?: Partial<RenderOptions>) => {
    const {
      cpu: _cpu,
      memory: _memory,
      devices: _devices,
      ...rest
    } = guest({ template: 'small', ...(given && { domain: given }) }, more).domain
    return rest
  }
  t.strictSame(domain(undefined), {})
  t.strictSame(domain({ features: { acpi: false, apic: true, hyperv: false } }), {
    features: { acpi: { enabled: false }, apic: { enabled: true } }
  })
  t.strictSame(domain({ machine: { type: 'pc-q35' } }), { machine: { type: 'q35' } })
  t.strictSame(domain({ machine: { type: 'pc-q35-9.0' } }), { machine: { type: 'pc-q35-9.0' } })
  t.strictSame(domain({ firmware: { bootloader: { efi: true } } }), { firmware: { bootloader: { efi: { secureBoot: false } } } })
  t.strictSame(domain({ firmware: { bootloader: { secureBoot: true } } }), {
    features: { smm: { enabled: true } },
    firmware: { bootloader: { efi: { secureBoot: true } } }
  })
  t.strictSame(domain({ firmware: { bootloader: { efi: false } } }), {})
  t.strictSame(
    domain(undefined, { architecture: 'arm64' }),
    { firmware: { bootloader: { efi: { secureBoot: false } } } },
    'arm64 has no BIOS'
  )
  t.strictSame(
    guest({ template: 'small', cdroms: [{ name: 'c', source: { containerDisk: { image: 'i' } } }] }, { architecture: 'arm64' })
      .domain.devices.disks?.[1]?.cdrom?.bus,
    'scsi'
  )
})
