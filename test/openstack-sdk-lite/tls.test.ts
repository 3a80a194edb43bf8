// Certificates: the CA file is trusted in place of the system's, and nobody else is.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { connect, type ConnectOptions, OpenStackError, readPolicy } from 'openstack-sdk-lite'
import { selfSigned } from '../../shared/runtime/self-signed.ts'

const certify = () => selfSigned({ commonName: 'openstack', names: ['127.0.0.1'], days: 1 }, new Date())

/** Keystone and Glance in a few lines, behind TLS. */
async function secured(t: Test): Promise<{ url: string; ca: string; folder: string }> {
  const { certificate, key } = certify()
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const url = `https://${request.headers.host}`
    const catalog = [{ type: 'image', endpoints: [{ interface: 'public', region: 'r', url }] }]
    const isToken = request.method === 'POST'
    const body = isToken ? { token: { expires_at: new Date(Date.now() + 3_600_000).toISOString(), catalog } } : { images: [] }
    const headers = { 'content-type': 'application/json', ...(isToken && { 'x-subject-token': 'token' }) }
    request.resume().on('end', () => response.writeHead(isToken ? 201 : 200, headers).end(JSON.stringify(body)))
  })
  server.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const folder = await mkdtemp(join(tmpdir(), 'tls-'))
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/v3`, ca: certificate, folder }
}

void t.test('HV-31: the CA file decides whom to trust', async t => {
  const { url, ca, folder } = await secured(t)
  const [right, wrong] = [join(folder, 'right.pem'), join(folder, 'wrong.pem')]
  await writeFile(right, ca)
  await writeFile(wrong, certify().certificate)
  const ask = async (more: Partial<ConnectOptions>): Promise<unknown> => {
    const auth = { kind: 'token', url, token: 'x' } as const
    const cloud = await connect({ auth, retry: { ...readPolicy, repeats: 0 }, ...more })
    try {
      return await cloud.images.named('x')
    } catch (err) {
      return err instanceof OpenStackError ? err.code : err
    } finally {
      cloud.close()
    }
  }
  t.equal(await ask({}), 'ConnectFailed', 'nobody knows it')
  t.equal(await ask({ caFile: wrong }), 'ConnectFailed', 'another authority')
  t.strictSame(await ask({ caFile: right }), [])
  t.strictSame(await ask({ ca }), [], 'the same as text')
  t.strictSame(await ask({ insecure: true }), [], 'for trials only')
  t.match(
    await ask({ caFile: join(folder, 'none.pem') }).catch((err: unknown) => err),
    { code: 'ENOENT' },
    'a missing file is told at once'
  )
})
