// The client's rows the other way round: how a server reads the arguments of a call and writes its result.
import { readDomain, readUuid, writeDomain } from '../domain.ts'
import { domainStateNumbers } from '../domain-state.ts'
import { authList } from '../procedures/auth.ts'
import {
  connectClose,
  connectGetCapabilities,
  connectGetDomainCapabilities,
  connectGetHostname,
  connectGetLibVersion,
  connectGetType,
  connectGetUri,
  connectGetVersion,
  connectOpen,
  connectSupportsFeature
} from '../procedures/connect.ts'
import { domainAbortJob, domainGetJobStats, jobTypes } from '../procedures/domain-job.ts'
import {
  domainCreate,
  domainCreateXml,
  domainDefineXml,
  domainDestroy,
  domainReset,
  domainResume,
  domainSuspend,
  domainUndefine
} from '../procedures/domain-lifecycle.ts'
import { connectListAllDomains, domainLookupByName, domainLookupByUuid } from '../procedures/domain-list.ts'
import {
  controlErrors,
  controlStates,
  domainGetControlInfo,
  domainGetState,
  domainGetXmlDesc
} from '../procedures/domain-read.ts'
import { eventCallbackDeregister, eventCallbackRegister } from '../procedures/event-callback.ts'
import { nodeGetInfo } from '../procedures/node.ts'
import type { Procedure } from '../procedures/procedure.ts'
import { writeTypedParams } from '../typed-param.ts'
import { valueOf } from '../words.ts'
import type { Reader } from '../xdr/reader.ts'
import type { Writer } from '../xdr/writer.ts'

export interface ServedRow<Args, Result> {
  readonly number: number
  readonly read: (r: Reader) => Args
  readonly write: (w: Writer, result: Result) => unknown
}

/** The types are those of the client's row, so that the two cannot drift apart. */
const served = <Args, Result>(
  { number }: Procedure<Args, Result>,
  read: (r: Reader) => Args,
  write: (w: Writer, result: Result) => unknown
): ServedRow<Args, Result> => ({ number, read, write })

const nothing = (): void => {}
const text = (w: Writer, value: string): unknown => w.string(value)
const version = (w: Writer, value: bigint): unknown => w.uhyper(value)
const ofDomain = (r: Reader) => ({ domain: readDomain(r) })
const ofDomainFlags = (r: Reader) => ({ domain: readDomain(r), flags: r.uint() })
const xmlFlags = (r: Reader) => ({ xml: r.string(), flags: r.uint() })
const optionalText = (r: Reader): string | null => r.optional(() => r.string())

export const rows = {
  authList: served(authList, nothing, (w, types) => w.list(types, type => w.int(type))),
  open: served(connectOpen, r => ({ name: optionalText(r), flags: r.uint() }), nothing),
  close: served(connectClose, nothing, nothing),
  supportsFeature: served(
    connectSupportsFeature,
    r => ({ feature: r.int() }),
    (w, known) => w.bool(known)
  ),
  type: served(connectGetType, nothing, text),
  version: served(connectGetVersion, nothing, version),
  libVersion: served(connectGetLibVersion, nothing, version),
  hostname: served(connectGetHostname, nothing, text),
  uri: served(connectGetUri, nothing, text),
  capabilities: served(connectGetCapabilities, nothing, text),
  domainCapabilities: served(connectGetDomainCapabilities, readDomainCapabilities, text),
  nodeInfo: served(nodeGetInfo, nothing, (w, { model, memoryKiB, ...cpu }) => {
    const chars = Buffer.alloc(32)
    chars.write(model.slice(0, 31))
    for (const char of chars) w.int(char)
    w.uhyper(memoryKiB).int(cpu.cpus).int(cpu.mhz).int(cpu.numaNodes)
    return w.int(cpu.socketsPerNode).int(cpu.coresPerSocket).int(cpu.threadsPerCore)
  }),
  listAllDomains: served(connectListAllDomains, readListFlags, (w, domains) =>
    w.list(domains, domain => writeDomain(w, domain)).uint(domains.length)
  ),
  lookupByName: served(domainLookupByName, r => ({ name: r.string() }), writeDomain),
  lookupByUuid: served(domainLookupByUuid, r => ({ uuid: readUuid(r) }), writeDomain),
  state: served(domainGetState, ofDomainFlags, (w, state) => {
    const [number, reason] = domainStateNumbers(state)
    return w.int(number).int(reason)
  }),
  xml: served(domainGetXmlDesc, ofDomainFlags, text),
  controlInfo: served(domainGetControlInfo, ofDomainFlags, (w, { state, details, sinceMs }) =>
    w.uint(valueOf(controlStates, state)).uint(valueOf(controlErrors, details)).uhyper(sinceMs)
  ),
  jobStats: served(domainGetJobStats, ofDomainFlags, (w, { type, params }) =>
    writeTypedParams(w.int(valueOf(jobTypes, type)), params)
  ),
  abortJob: served(domainAbortJob, ofDomain, nothing),
  defineXml: served(domainDefineXml, xmlFlags, writeDomain),
  createXml: served(domainCreateXml, xmlFlags, writeDomain),
  create: served(domainCreate, ofDomainFlags, writeDomain),
  suspend: served(domainSuspend, ofDomain, nothing),
  resume: served(domainResume, ofDomain, nothing),
  reset: served(domainReset, ofDomainFlags, nothing),
  destroy: served(domainDestroy, ofDomainFlags, nothing),
  undefine: served(domainUndefine, ofDomainFlags, nothing),
  register: served(
    eventCallbackRegister,
    r => ({ eventId: r.int(), domain: r.optional(readDomain) ?? undefined }),
    (w, callback) => w.int(callback)
  ),
  deregister: served(eventCallbackDeregister, r => ({ callbackId: r.int() }), nothing)
} as const

function readDomainCapabilities(r: Reader): { flags: number } {
  for (let at = 0; at < 4; at++) optionalText(r) // emulator, architecture, machine and kind: there is one of each
  return { flags: r.uint() }
}

function readListFlags(r: Reader): { flags: number } {
  r.int() // whether results are wanted
  return { flags: r.uint() }
}
