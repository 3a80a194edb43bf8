// From a target to a connected socket. Nothing of libvirt's protocol but the one byte that follows its TLS handshake.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect as connectNet, isIP, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { LibvirtError } from './errors.ts'
import type { Target } from './uri.ts'

/** PEM texts in place of the files of pkipath. */
export interface TlsMaterial {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
}

export interface DialOptions {
  readonly tls?: TlsMaterial | undefined
  readonly signal: AbortSignal
}

export async function dial(target: Target, { tls, signal }: DialOptions): Promise<Socket> {
  signal.throwIfAborted()
  if (target.transport === 'unix') return await settled(connectNet({ path: target.path }), 'connect', signal)
  const { host, port } = target
  if (target.transport === 'tcp') return await settled(connectNet({ host, port, noDelay: true }), 'connect', signal)
  const options = await tlsOptions(target, tls)
  const socket = await settled(connectTls(options), 'secureConnect', signal)
  await admitted(socket, signal)
  return socket.setNoDelay()
}

async function settled(socket: Socket, event: string, signal: AbortSignal): Promise<Socket> {
  try {
    await once(socket, event, { signal })
    return socket
  } catch (cause) {
    socket.destroy()
    throw signal.aborted ? signal.reason : failure(cause)
  }
}

/** The server judges our certificate after the handshake: a byte 1 if it lets us in, else it hangs up. */
async function admitted(socket: Socket, signal: AbortSignal): Promise<void> {
  try {
    await once(socket, 'readable', { signal }) // also emitted at the end of the stream
    const byte = socket.read(1) as Buffer | null
    if (byte?.[0] !== 1) throw new Error(byte ? `the server answered ${byte[0]} in place of 1` : 'the server hung up')
  } catch (cause) {
    socket.destroy()
    throw signal.aborted ? signal.reason : new LibvirtError('tls', 'the server did not accept our certificate', { cause })
  }
}

function failure(cause: unknown): LibvirtError {
  const { code = '', message } = cause as NodeJS.ErrnoException
  const network = /^(E(CONN|HOST|NET|TIMEDOUT|PIPE|ACCES|PERM|AI_AGAIN)|ENO(ENT|TFOUND|TSOCK))/.test(code)
  return new LibvirtError(network ? 'connect' : 'tls', message, { cause })
}

type TlsTarget = Extract<Target, { transport: 'tls' }>

async function tlsOptions(
  { host, port, verify, pkiPath }: TlsTarget,
  given: TlsMaterial | undefined
): Promise<ConnectionOptions> {
  const material = given ?? (await readPki(pkiPath, verify))
  return { host, port, rejectUnauthorized: verify, ...(isIP(host) === 0 && { servername: host }), ...material }
}

/** libvirt's file names, all in pkipath or in their places below /etc/pki. A client certificate is the server's wish, not ours. */
async function readPki(pkiPath: string | undefined, verify: boolean): Promise<TlsMaterial> {
  const [ca, cert, key] = pkiPath
    ? ['cacert.pem', 'clientcert.pem', 'clientkey.pem'].map(file => join(pkiPath, file))
    : ['/etc/pki/CA/cacert.pem', '/etc/pki/libvirt/clientcert.pem', '/etc/pki/libvirt/private/clientkey.pem']
  const [caText, certText, keyText] = await Promise.all([read(ca, verify), read(cert, false), read(key, false)])
  return { ...(caText && { ca: caText }), ...(certText && keyText && { cert: certText, key: keyText }) }
}

async function read(file = '', needed: boolean): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (cause) {
    if (!needed && (cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new LibvirtError('tls', `${file} cannot be read`, { cause })
  }
}
