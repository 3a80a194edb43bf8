// What a user or another operator does to a server, over the fake's own API; a refusal is part of life.
import type { FakeOpenStack } from '../../../shared/local/openstack/index.ts'

const bodies: Record<string, unknown> = {
  reboot: { type: 'HARD' },
  'os-resetState': { state: 'error' },
  'os-migrateLive': { host: null, block_migration: 'auto' }
}

let token: { url: string; value: string } | undefined

/** The status of the answer; undefined when the connection broke on the way, as one of the faults wants it. */
export async function fakeAction(fake: FakeOpenStack, id: string, action: string): Promise<number | undefined> {
  const compute = fake.authUrl.replace('/identity/v3', '/compute/v2.1')
  if (token?.url !== compute) token = { url: compute, value: fake.tokens.issue('password', '', false).id }
  const headers = { 'x-auth-token': token.value, 'content-type': 'application/json', 'openstack-api-version': 'compute 2.90' }
  const send = async (path: string, init: RequestInit): Promise<number | undefined> => {
    try {
      const response = await fetch(`${compute}/servers/${id}${path}`, { ...init, headers })
      await response.arrayBuffer()
      return response.status
    } catch (err) {
      if (err instanceof TypeError && err.message === 'fetch failed') return undefined
      throw err
    }
  }
  if (action === 'delete') return send('', { method: 'DELETE' })
  const record = fake.world.migrations.find(
    ({ instance, status }) => instance.id === id && ['queued', 'preparing', 'running'].includes(status)
  )
  if (action === 'abort') return record ? send(`/migrations/${record.id}`, { method: 'DELETE' }) : 404
  return send('/action', { method: 'POST', body: JSON.stringify({ [action]: bodies[action] ?? null }) })
}
