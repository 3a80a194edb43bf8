// Where a server is, in the words of ovsdb(7) "Connection Methods", and how to reach it.
import { type Socket, connect } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { OvsdbError } from './error.ts'

export type Remote =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp' | 'ssl'; readonly host: string; readonly port: number }

/** Handed to Node's TLS as they are: ca, cert, key… Certificates by ovs-pki name no host: give a `checkServerIdentity` that fits yours. */
export type TlsOptions = Omit<ConnectionOptions, 'host' | 'port' | 'path' | 'socket'>

const defaultPort = 6640 // RFC 7047 §9

/** `unix:/run/openvswitch/db.sock`, `tcp:10.0.0.1:6642`, `ssl:[fd00::1]:6642`; the port may be left out. */
export function parseRemote(text: string): Remote {
  const unix = /^unix:(.+)$/.exec(text)
  if (unix?.[1]) return { kind: 'unix', path: unix[1] }
  const [, kind, bracketed, plain, port] = /^(tcp|ssl):(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  if ((kind !== 'tcp' && kind !== 'ssl') || host === undefined || Number(port ?? defaultPort) > 65535) {
    throw new OvsdbError('notation', `not a remote: ${text} (unix:PATH, tcp:HOST[:PORT] or ssl:HOST[:PORT])`)
  }
  return { kind, host, port: Number(port ?? defaultPort) }
}

export const remoteText = (remote: Remote) =>
  remote.kind === 'unix' ? `unix:${remote.path}` : `${remote.kind}:${remote.host}:${remote.port}`

/** A socket that is ready to be written to: with TLS, one whose peer has been verified. */
export function dial(remote: Remote, tls: TlsOptions, signal: AbortSignal): Promise<Socket> {
  const socket = openSocket(remote, tls)
  return new Promise((resolve, reject) => {
    let code: 'connect-failed' | 'tls-failed' = 'connect-failed'
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', onAbort)
      socket.off('error', onError).off('close', onClose)
      act()
    }
    const fail = (cause: unknown) =>
      settle(() => {
        socket.on('error', () => {}).destroy() // what it says after this is of no interest
        reject(new OvsdbError(code, `cannot connect to ${remoteText(remote)}`, { cause }))
      })
    const onError = (error: Error) => fail(error)
    const onClose = () => fail(new Error('closed during the handshake'))
    const onAbort = () => fail(signal.reason)
    socket.on('error', onError).on('close', onClose)
    if (remote.kind === 'ssl') socket.once('connect', () => (code = 'tls-failed'))
    socket.once(remote.kind === 'ssl' ? 'secureConnect' : 'connect', () => settle(() => resolve(socket)))
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
  })
}

function openSocket(remote: Remote, tls: TlsOptions): Socket {
  if (remote.kind === 'unix') return connect({ path: remote.path })
  const { host, port } = remote
  return remote.kind === 'tcp' ? connect({ host, port, noDelay: true }) : connectTls({ ...tls, host, port })
}
