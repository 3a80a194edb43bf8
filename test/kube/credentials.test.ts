import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import { connect } from '../../shared/kube/index.ts'
import { folder, kubeconfig } from './connected.ts'

const plain = { apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }] }
const context = {
  users: [{ name: 'u', user: {} }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'c'
}

const cases: Array<[name: string, content: string | undefined, message: RegExp]> = [
  ['no file', undefined, /no usable kubeconfig in .*kubeconfig/],
  ['no YAML', '{"a', /no usable kubeconfig/],
  ['an empty one', '{}', /names no API server/],
  ['no cluster', JSON.stringify({ ...context }), /names no API server/],
  [
    'plain HTTP that is not asked for',
    JSON.stringify({ ...plain, ...context }),
    /plain HTTP, which needs insecure-skip-tls-verify/
  ]
]
for (const [name, content, message] of cases) {
  t.test(`${name}: Unconfigured`, async t => {
    const path = join(await folder(t), 'kubeconfig')
    if (content !== undefined) await writeFile(path, content)
    await t.rejects(connect({ manager: 'm', kubeconfig: path }), { code: 'Unconfigured', retryable: false, message })
  })
}

t.test('a token is in no error', async t => {
  const path = await kubeconfig(t, 'http://127.0.0.1:1', { token: 'secret-token' })
  const kube = await connect({ manager: 'm', kubeconfig: path, pace: { delay: async () => undefined, random: () => 0 } })
  const error = await kube.health().catch((err: unknown) => err)
  t.notMatch(inspect(error, { depth: null, showHidden: true }), /secret-token/)
})
