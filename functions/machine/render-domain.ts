// CPU, memory, machine type, features, clock and firmware (spec/machine.md §6, K2–K9). Unset fields give no key. Pure.
import type { Merged } from '../../shared/rules/merge.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { RenderOptions } from './render.ts'

const enabled = { enabled: true }

export function renderDomain(
  { spec }: Machine,
  { cpu, memory }: Merged,
  { architecture }: RenderOptions
): Record<string, unknown> {
  const { machine, features = {}, firmware } = spec.domain ?? {}
  const { efi = false, secureBoot = false } = firmware?.bootloader ?? {}
  const usesEfi = efi || secureBoot || architecture === 'arm64' // arm64 has no BIOS
  const rendered = {
    ...(features.acpi !== undefined && { acpi: { enabled: features.acpi } }),
    ...(features.apic !== undefined && { apic: { enabled: features.apic } }),
    ...(features.hyperv && { hyperv: { relaxed: enabled, vapic: enabled, spinlocks: { enabled: true, spinlocks: 8191 } } }),
    ...(secureBoot && { smm: enabled }) // K9
  }
  return {
    cpu,
    memory: { guest: memory },
    ...(machine?.type !== undefined && { machine: { type: machine.type === 'pc-q35' ? 'q35' : machine.type } }), // K8
    ...(features.hyperv && { clock: hypervClock }),
    ...(Object.keys(rendered).length > 0 && { features: rendered }),
    ...(usesEfi && { firmware: { bootloader: { efi: { secureBoot } } } })
  }
}

const hypervClock = {
  utc: {},
  timer: { hpet: { present: false }, hyperv: { present: true }, pit: { tickPolicy: 'delay' }, rtc: { tickPolicy: 'catchup' } }
}
