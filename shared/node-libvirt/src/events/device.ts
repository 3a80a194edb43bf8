// Devices and displays that come, go or change
import { type Domain, readDomain } from '../domain.ts'
import { type Word, word } from '../words.ts'
import type { Reader } from '../xdr/reader.ts'
import type { EventRow } from './event.ts'

const phases = ['connect', 'initialize', 'disconnect'] as const
const families = ['ipv4', 'ipv6', 'unix'] as const
const diskReasons = ['missing-on-start', 'dropped-missing-on-start'] as const
const trayReasons = ['open', 'close'] as const

export interface GraphicsAddress {
  readonly family: Word<typeof families>
  readonly node: string
  readonly service: string
}

export interface Graphics {
  readonly domain: Domain
  readonly phase: Word<typeof phases>
  readonly local: GraphicsAddress
  readonly remote: GraphicsAddress
  readonly authScheme: string
  readonly subject: readonly { readonly type: string; readonly name: string }[]
}

const readAddress = (r: Reader): GraphicsAddress => ({ family: word(families, r.int()), node: r.string(), service: r.string() })

// 5, message 323 DOMAIN_EVENT_CALLBACK_GRAPHICS: domain, int phase, 2 x (int family, string node, string service), string scheme,
// (string type, string name)[]
export const graphics: EventRow<Graphics> = {
  id: 5,
  number: 323,
  decode: r => ({
    domain: readDomain(r),
    phase: word(phases, r.int()),
    local: readAddress(r),
    remote: readAddress(r),
    authScheme: r.string(),
    subject: r.list(() => ({ type: r.string(), name: r.string() }), 8)
  })
}

export interface DiskChange {
  readonly domain: Domain
  readonly oldPath: string | null
  readonly newPath: string | null
  readonly device: string
  readonly reason: Word<typeof diskReasons>
}

// 9, message 327 DOMAIN_EVENT_CALLBACK_DISK_CHANGE: domain, string? old path, string? new path, string device, int reason
export const diskChange: EventRow<DiskChange> = {
  id: 9,
  number: 327,
  decode: r => ({
    domain: readDomain(r),
    oldPath: r.optional(() => r.string()),
    newPath: r.optional(() => r.string()),
    device: r.string(),
    reason: word(diskReasons, r.int())
  })
}

// 10, message 328 DOMAIN_EVENT_CALLBACK_TRAY_CHANGE: domain, string device, int reason
export const trayChange: EventRow<{ domain: Domain; device: string; reason: Word<typeof trayReasons> }> = {
  id: 10,
  number: 328,
  decode: r => ({ domain: readDomain(r), device: r.string(), reason: word(trayReasons, r.int()) })
}

// 13, message 331 DOMAIN_EVENT_CALLBACK_BALLOON_CHANGE: domain, unsigned hyper KiB
export const balloonChange: EventRow<{ domain: Domain; actualKiB: bigint }> = {
  id: 13,
  number: 331,
  decode: r => ({ domain: readDomain(r), actualKiB: r.uhyper() })
}

export interface DeviceEvent {
  readonly domain: Domain
  /** the alias: net0, virtio-disk1 */
  readonly device: string
}

const decode: EventRow<DeviceEvent>['decode'] = r => ({ domain: readDomain(r), device: r.string() })

// 15, 19, 22, messages 333, 354, 367 DOMAIN_EVENT_CALLBACK_DEVICE_REMOVED, DEVICE_ADDED, DEVICE_REMOVAL_FAILED: domain, string device
export const deviceRemoved: EventRow<DeviceEvent> = { id: 15, number: 333, decode }
export const deviceAdded: EventRow<DeviceEvent> = { id: 19, number: 354, decode }
export const deviceRemovalFailed: EventRow<DeviceEvent> = { id: 22, number: 367, decode }
