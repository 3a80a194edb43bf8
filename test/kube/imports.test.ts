import { registerHooks } from 'node:module'
import t from 'tap'

t.test('client-node is loaded by connect, and not by an import', async t => {
  const loaded: string[] = []
  const hooks = registerHooks({
    load(url, context, next) {
      loaded.push(url)
      return next(url, context)
    }
  })
  t.teardown(() => hooks.deregister())
  const { connect } = await import('../../shared/kube/index.ts')
  t.ok(loaded.some(url => url.endsWith('/shared/kube/connect.ts')))
  t.strictSame(
    loaded.filter(url => url.includes('node_modules')),
    []
  )
  await t.rejects(connect({ manager: 'm', kubeconfig: '/dev/null' }), { code: 'Unconfigured' })
  t.ok(loaded.some(url => url.endsWith('client-node/dist/config.js')))
})
