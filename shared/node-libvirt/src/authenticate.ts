// What libvirt wants before CONNECT_OPEN: nothing, polkit's word, or SASL
import { LibvirtError } from './errors.ts'
import { AUTH, authList, authPolkit, authSaslInit, authSaslStart, authSaslStep } from './procedures/auth.ts'
import type { Procedure } from './procedures/procedure.ts'
import type { Credentials, Mechanism } from './sasl/mechanism.ts'
import { plain } from './sasl/plain.ts'
import { scramSha256 } from './sasl/scram.ts'

export type Call = <Args, Result>(procedure: Procedure<Args, Result>, args: Args) => Promise<Result>

const mechanisms: readonly Mechanism[] = [scramSha256, plain] // the better one first
const wants = new Map<number, string>(Object.entries(AUTH).map(([name, number]) => [number, name]))

export interface AuthOptions {
  readonly credentials: Credentials | undefined
  /** Nobody on the way can read along: TLS, or a socket of this machine. */
  readonly confidential: boolean
}

export async function authenticate(call: Call, options: AuthOptions): Promise<void> {
  const { credentials } = options
  const types = await call(authList, undefined)
  if (types.includes(AUTH.none)) return
  if (types.includes(AUTH.sasl) && (credentials || !types.includes(AUTH.polkit))) return await sasl(call, options)
  if (types.includes(AUTH.polkit)) return await polkit(call)
  throw new LibvirtError(
    'auth',
    `the server wants ${types.map(type => wants.get(type) ?? `type ${type}`).join(' or ') || 'nothing we know'}`
  )
}

async function polkit(call: Call): Promise<void> {
  // the server asks polkit about our process; there is nothing to send
  if (!(await call(authPolkit, undefined))) throw new LibvirtError('auth', 'polkit did not let us in')
}

async function sasl(call: Call, { credentials, confidential }: AuthOptions): Promise<void> {
  const offered = (await call(authSaslInit, undefined)).split(',').map(name => name.trim())
  if (!credentials) throw new LibvirtError('auth', `the server wants a user name and password (SASL: ${offered.join(', ')})`)
  const mechanism = mechanisms.find(({ name }) => offered.includes(name))
  if (!mechanism) {
    const known = mechanisms.map(({ name }) => name).join(' and ')
    throw new LibvirtError('auth', `the server wants SASL ${offered.join(' or ')}; ${known} are known here`)
  }
  // whoever can write on the way could also have struck the better mechanisms from the list
  if (mechanism === plain && !confidential)
    throw new LibvirtError('auth', 'the server wants SASL PLAIN, which would show the password to everybody on the way: use TLS')
  const exchange = mechanism.start(credentials)
  let turn = await call(authSaslStart, { mechanism: mechanism.name, data: exchange.first })
  // a server may say "complete" together with its last message: it must be read all the same
  while (!turn.complete || turn.data?.length) {
    const answer = step(() => exchange.next(turn.data ?? Buffer.alloc(0)))
    if (turn.complete) break
    turn = await call(authSaslStep, { data: answer })
  }
  if (!exchange.done())
    throw new LibvirtError('auth', `the server ended ${mechanism.name} without proving that it knows the password`)
}

function step<T>(next: () => T): T {
  try {
    return next()
  } catch (cause) {
    throw new LibvirtError('auth', (cause as Error).message, { cause })
  }
}
