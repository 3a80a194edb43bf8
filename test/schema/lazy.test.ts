import { registerHooks } from 'node:module'
import t from 'tap'

t.test('importing the kinds loads neither the validator nor CEL: cold start matters', async t => {
  const loaded: string[] = []
  const hooks = registerHooks({
    load(url, context, next) {
      loaded.push(url)
      return next(url, context)
    }
  })
  await import('../../shared/schema/index.ts')
  hooks.deregister()
  t.ok(
    loaded.some(url => url.endsWith('shared/schema/hypervisor.ts')),
    'the kinds were loaded'
  )
  t.strictSame(
    loaded.filter(url => /typebox\/build\/(compile|value|schema)\/|cel-js|validate\.ts/.test(url)),
    []
  )
})
