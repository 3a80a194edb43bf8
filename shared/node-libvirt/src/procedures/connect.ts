// The connection and the host behind it. Numbers are REMOTE_PROC_CONNECT_* of libvirt's remote protocol.
import { nothing, type Procedure } from './procedure.ts'

// 1 CONNECT_OPEN: string? name, unsigned flags
export const connectOpen: Procedure<{ name: string | null; flags?: number }, void> = {
  number: 1,
  encode: (w, { name, flags = 0 }) => void w.optional(name, v => w.string(v)).uint(flags),
  decode: nothing
}
export const CONNECT_READ_ONLY = 1 // VIR_CONNECT_RO

// 2 CONNECT_CLOSE
export const connectClose: Procedure<void, void> = { number: 2, encode: nothing, decode: nothing }

// 3 CONNECT_GET_TYPE -> string
export const connectGetType: Procedure<void, string> = { number: 3, encode: nothing, decode: r => r.string() }

// 4 CONNECT_GET_VERSION -> unsigned hyper: the hypervisor's, major * 1000000 + minor * 1000 + release
export const connectGetVersion: Procedure<void, bigint> = { number: 4, encode: nothing, decode: r => r.uhyper() }

// 5 CONNECT_GET_MAX_VCPUS: string? type -> int
export const connectGetMaxVcpus: Procedure<{ type: string | null }, number> = {
  number: 5,
  encode: (w, { type }) => void w.optional(type, v => w.string(v)),
  decode: r => r.int()
}

// 7 CONNECT_GET_CAPABILITIES -> string xml
export const connectGetCapabilities: Procedure<void, string> = { number: 7, encode: nothing, decode: r => r.string() }

// 59 CONNECT_GET_HOSTNAME -> string
export const connectGetHostname: Procedure<void, string> = { number: 59, encode: nothing, decode: r => r.string() }

// 60 CONNECT_SUPPORTS_FEATURE: int feature -> int
export const connectSupportsFeature: Procedure<{ feature: number }, boolean> = {
  number: 60,
  encode: (w, { feature }) => void w.int(feature),
  decode: r => r.bool()
}
/** VIR_DRV_FEATURE_*; asking for keepalive is what turns it on in the server. */
export const FEATURE = {
  migrationP2p: 4,
  migrationV3: 6,
  keepalive: 10,
  migrationParams: 13,
  eventCallback: 14,
  closeCallback: 15
} as const

// 110 CONNECT_GET_URI -> string
export const connectGetUri: Procedure<void, string> = { number: 110, encode: nothing, decode: r => r.string() }

// 157 CONNECT_GET_LIB_VERSION -> unsigned hyper: libvirt's own, same form as 4
export const connectGetLibVersion: Procedure<void, bigint> = { number: 157, encode: nothing, decode: r => r.uhyper() }

// 342 CONNECT_GET_DOMAIN_CAPABILITIES: string? emulator, arch, machine, virttype, unsigned flags -> string xml
export const connectGetDomainCapabilities: Procedure<
  { emulator?: string; arch?: string; machine?: string; virtType?: string; flags?: number },
  string
> = {
  number: 342,
  encode: (w, { emulator, arch, machine, virtType, flags = 0 }) => {
    for (const value of [emulator, arch, machine, virtType]) w.optional(value, v => w.string(v))
    w.uint(flags)
  },
  decode: r => r.string()
}

// 360, 361 CONNECT_REGISTER_CLOSE_CALLBACK, CONNECT_UNREGISTER_CLOSE_CALLBACK: message 362 tells when the driver's own link is lost
export const connectRegisterCloseCallback: Procedure<void, void> = { number: 360, encode: nothing, decode: nothing }
export const connectUnregisterCloseCallback: Procedure<void, void> = { number: 361, encode: nothing, decode: nothing }

/** major.minor.release of 4 and 157 */
export function formatVersion(version: bigint): string {
  return `${version / 1_000_000n}.${(version / 1000n) % 1000n}.${version % 1000n}`
}
