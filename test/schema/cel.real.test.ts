// The CEL library is Kubernetes': a CRD with one rule for each expression, and the server's list of those that do not hold.
import t from 'tap'
import type { OpenApi } from '../../shared/schema/openapi.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { request } from '../servers/request.ts'
import { expressions, selfSchema, selfValue } from './cel.cases.ts'

t.test('the API server answers as the table says', async t => {
  const api = await kubernetes(t)
  const group = `${api.namespace}.example.org`
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const bounded: OpenApi = structuredClone(selfSchema)
  Object.assign(bounded.properties?.counts ?? {}, { maxProperties: 8 })
  const properties = Object.fromEntries(
    expressions.map(([rule], i) => [`case${i}`, { ...bounded, 'x-kubernetes-validations': [{ rule, message: 'does not hold' }] }])
  )
  const made = await request(api, 'POST', path, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `samples.${group}` },
    spec: {
      group,
      names: { kind: 'Sample', plural: 'samples' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
        }
      ]
    }
  })
  t.equal(made.status, 201, 'every expression compiles', { body: made.body })
  if (made.status !== 201) return
  t.teardown(() => request(api, 'DELETE', `${path}/samples.${group}`))

  const list = `/apis/${group}/v1/namespaces/${api.namespace}/samples`
  while ((await request(api, 'GET', list)).status !== 200) await new Promise(setImmediate)
  const spec = Object.fromEntries(expressions.map((_, i) => [`case${i}`, selfValue]))
  const { body } = await request<{ details: { causes: Array<{ field: string }> } }>(api, 'POST', list, {
    apiVersion: `${group}/v1`,
    kind: 'Sample',
    metadata: { name: 'one' },
    spec
  })
  const refused = new Set(body.details.causes.map(({ field }) => field))
  for (const [i, [rule, holds]] of expressions.entries()) t.equal(!refused.has(`spec.case${i}`), holds, rule)
})
