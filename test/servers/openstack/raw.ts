// Requests that the library does not make, for setting the scene: aggregates, providers, stopping a server.
import type { OpenStack } from '../openstack.ts'

export interface RawAnswer {
  status: number
  headers: Headers
  body: unknown
}

export type Raw = (service: string, method: string, path: string, body?: unknown) => Promise<RawAnswer>

const versions: Record<string, string> = { compute: 'compute 2.90', placement: 'placement 1.39' }

export async function openRaw({ options: { auth } }: Pick<OpenStack, 'options'>): Promise<Raw> {
  const { kind: _, url, user, password, scope } = auth
  const identity = { methods: ['password'], password: { user: { ...user, password } } }
  const answer = await fetch(`${url}/auth/tokens`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ auth: { identity, scope } })
  })
  const { token } = (await answer.json()) as {
    token: { catalog: { type: string; endpoints: { interface: string; url: string }[] }[] }
  }
  const bases = new Map(token.catalog.map(({ type, endpoints }) => [type, endpoints.find(e => e.interface === 'public')?.url]))
  bases.set('identity', url)
  return async (service, method, path, body) => {
    const headers = {
      ...json,
      'x-auth-token': answer.headers.get('x-subject-token') ?? '',
      ...(versions[service] && { 'openstack-api-version': versions[service] })
    }
    const got = await fetch(`${bases.get(service)}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await got.text()
    return { status: got.status, headers: got.headers, body: text.startsWith('{') ? JSON.parse(text) : {} }
  }
}

const json = { 'content-type': 'application/json' }
