// What the host says about itself: os-release, the kernel, hostnamed (NA-16)
import { readFile } from 'node:fs/promises'
import { release, type as kernelType, version } from 'node:os'
import { join } from 'node:path'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { Bus } from './bus.ts'

export type OperatingSystem = NonNullable<NonNullable<Hypervisor['status']>['operatingSystem']>

/** KEY=value, 'value' or "value" with backslashes; see os-release(5). */
export function osRelease(text: string): Record<string, string> {
  const facts: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const [, key = '', value = ''] = /^\s*([A-Z0-9_]+)=(.*?)\s*$/.exec(line) ?? []
    if (key === '') continue
    const quoted = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
    facts[key] = quoted.replaceAll(/\\(["$`\\])/g, '$1')
  }
  return facts
}

interface Described {
  KernelName?: string
  KernelRelease?: string
  KernelVersion?: string
  HardwareVendor?: string
  HardwareModel?: string
  HardwareSerial?: string
  FirmwareVersion?: string
  FirmwareVendor?: string
  /** Microseconds since 1970. */
  FirmwareDate?: number
}

export function operatingSystem(release: Record<string, string>, described: Described, commandLine: string): OperatingSystem {
  const facts = {
    version: release['GARDENLINUX_VERSION'] ?? release['VERSION_ID'],
    variantID: release['VARIANT_ID'],
    prettyVersion: release['PRETTY_NAME'],
    kernelName: described.KernelName,
    kernelRelease: described.KernelRelease,
    kernelVersion: described.KernelVersion,
    kernelCommandLine: commandLine.trim(),
    hardwareVendor: described.HardwareVendor,
    hardwareModel: described.HardwareModel,
    hardwareSerial: described.HardwareSerial,
    firmwareVersion: described.FirmwareVersion,
    firmwareVendor: described.FirmwareVendor,
    firmwareDate: described.FirmwareDate ? `${new Date(described.FirmwareDate / 1000).toISOString().slice(0, 19)}Z` : undefined,
    gardenLinuxCommitID: release['GARDENLINUX_COMMIT_ID_LONG'],
    gardenLinuxFeatures: release['GARDENLINUX_FEATURES']?.split(',').filter(feature => feature !== '')
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined && value !== '' && value !== null))
}

const textAt = async (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)

export async function readOperatingSystem(root: string, bus: Bus | undefined): Promise<OperatingSystem> {
  const text = (await textAt(join(root, 'etc/os-release'))) ?? (await textAt(join(root, 'usr/lib/os-release'))) ?? ''
  const kernel = { KernelName: kernelType(), KernelRelease: release(), KernelVersion: version() }
  const described = bus === undefined ? kernel : { ...kernel, ...(await describe(bus)) }
  return operatingSystem(osRelease(text), described, (await textAt(join(root, 'proc/cmdline'))) ?? '')
}

/** hostnamed is started by the bus when it is asked; a host without it has fewer facts. */
async function describe(bus: Bus): Promise<Described> {
  const target = {
    service: 'org.freedesktop.hostname1',
    path: '/org/freedesktop/hostname1',
    interface: 'org.freedesktop.hostname1'
  }
  try {
    return JSON.parse((await bus.call(target, 'Describe')) as string) as Described
  } catch {
    return {}
  }
}

export async function readBootId(root: string): Promise<string> {
  return ((await textAt(join(root, 'proc/sys/kernel/random/boot_id'))) ?? 'unknown').trim()
}

export async function readUptime(root: string): Promise<number> {
  return Math.floor(Number(((await textAt(join(root, 'proc/uptime'))) ?? '0').split(' ')[0]))
}
