// libvirt's connection URIs: driver[+transport]://[host[:port]]/[path][?parameters]
import { LibvirtError } from './errors.ts'

export type Target =
  | { readonly transport: 'unix'; readonly path: string }
  | { readonly transport: 'tcp'; readonly host: string; readonly port: number }
  | {
      readonly transport: 'tls'
      readonly host: string
      readonly port: number
      readonly verify: boolean
      readonly pkiPath: string | undefined
    }

export interface Address {
  /** What CONNECT_OPEN gets: the URI as the server's own machine would write it. */
  readonly name: string
  readonly target: Target
}

const TCP_PORT = 16_509
const TLS_PORT = 16_514
const SYSTEM_SOCKET = '/run/libvirt/libvirt-sock'
const READ_ONLY_SOCKET = '/run/libvirt/libvirt-sock-ro'

export function parseUri(uri: string, { readOnly = false }: { readOnly?: boolean } = {}): Address {
  const [, driver, explicit, authority, rest] =
    /^([a-z][a-z0-9]*)(?:\+([a-z0-9]+))?:\/\/([^/?#]*)([^#]*)$/.exec(uri) ??
    refuse(uri, 'driver+transport://host:port/path is expected')
  const { hostname, port, username, pathname, searchParams } = split(uri, `${authority}${rest}`)
  if (username !== '') refuse(uri, 'a user name has no meaning here; give credentials to connect()')

  // as libvirt does: a host without a transport means TLS, no host means this machine
  const transport = explicit ?? (hostname === '' ? 'unix' : 'tls')
  const parameters = readParameters(uri, transport, searchParams)
  return { name: `${driver}://${pathname}`, target: target() }

  function target(): Target {
    if (transport === 'unix') {
      if (hostname !== '') refuse(uri, 'a unix socket has no host')
      return { transport, path: parameters.socket ?? defaultSocket(uri, pathname, readOnly) }
    }
    if (hostname === '') refuse(uri, `${transport} needs a host`)
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    if (transport === 'tcp') return { transport, host, port: Number(port || TCP_PORT) }
    return {
      transport: 'tls',
      host,
      port: Number(port || TLS_PORT),
      verify: parameters.no_verify === undefined || Number(parameters.no_verify) === 0,
      pkiPath: parameters.pkipath
    }
  }
}

/** http lends its rules for hosts, ports and escapes; the schemes of libvirt are unknown to URL, which then checks less. */
function split(uri: string, rest: string) {
  const local = rest.startsWith('/')
  try {
    const url = new URL(`http://${local ? 'local' : ''}${rest}`)
    return {
      hostname: local ? '' : url.hostname,
      port: url.port || (/^[^/?]*:80(?:[/?]|$)/.test(rest) ? '80' : ''), // URL drops http's own port
      username: url.username,
      pathname: url.pathname,
      searchParams: url.searchParams
    }
  } catch (cause) {
    throw new LibvirtError('uri', `${uri}: not a URI`, { cause })
  }
}

const allowed = new Map<string, readonly string[]>([
  ['unix', ['socket']],
  ['tcp', []],
  ['tls', ['no_verify', 'pkipath']]
])

function readParameters(uri: string, transport: string, given: URLSearchParams): Readonly<Record<string, string | undefined>> {
  const names = allowed.get(transport) ?? refuse(uri, `transport ${transport} is unknown: unix, tcp and tls are possible`)
  for (const name of given.keys()) {
    if (!names.includes(name))
      refuse(uri, `parameter ${name} is unknown for ${transport}: ${names.join(', ') || 'none'} possible`)
  }
  return Object.fromEntries(given)
}

function defaultSocket(uri: string, pathname: string, readOnly: boolean): string {
  // the place of a session's socket depends on the environment, which a library should not read
  if (pathname === '/session') return refuse(uri, 'a session needs its socket= parameter')
  return readOnly ? READ_ONLY_SOCKET : SYSTEM_SOCKET
}

function refuse(uri: string, why: string): never {
  throw new LibvirtError('uri', `${uri}: ${why}`)
}
