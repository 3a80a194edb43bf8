// Who asks: the three ways to get a Keystone v3 token, as the JSON that Keystone reads.

/** By id, or by name within a domain. */
export type Named = { id: string } | { name: string; domain?: Domain }
export type Domain = { id: string } | { name: string }
export type Scope = { project: Named } | { domain: Domain } | { system: 'all' }

export type Auth =
  | { kind: 'password'; url: string; user: Named; password: string; scope?: Scope }
  | { kind: 'applicationCredential'; url: string; credential: { id: string } | { name: string; user: Named }; secret: string }
  | { kind: 'token'; url: string; token: string; scope?: Scope }

export function tokenRequest(auth: Auth): object {
  if (auth.kind === 'password') return request('password', { user: { ...auth.user, password: auth.password } }, auth.scope)
  if (auth.kind === 'token') return request('token', { id: auth.token }, auth.scope)
  return request('application_credential', { ...auth.credential, secret: auth.secret }) // has its own scope: Keystone refuses another
}

export const secretOf = (auth: Auth): string =>
  auth.kind === 'password' ? auth.password : auth.kind === 'token' ? auth.token : auth.secret

function request(method: string, proof: object, scope?: Scope): object {
  return { auth: { identity: { methods: [method], [method]: proof }, ...(scope && { scope: wireScope(scope) }) } }
}

const wireScope = (scope: Scope): object => ('system' in scope ? { system: { all: true } } : scope)
