import t from 'tap'
import type { AuditEvent } from '../../../shared/local/kube-api/audit.ts'
import { request } from '../../servers/request.ts'
import { embedded } from './embedded.ts'

t.test('each request of a known user is told once, with what came of it', async t => {
  const events: AuditEvent[] = []
  const dev = { username: 'dev', groups: ['devs', 'system:authenticated'] }
  const api = await embedded(t, { users: { 'dev-token': dev }, audit: event => events.push(event) })
  const [nodes, maps] = ['/api/v1/nodes?limit=1', '/api/v1/namespaces/default/configmaps']
  const asDev = { authorization: 'Bearer dev-token' }
  await request(api, 'GET', nodes, undefined, asDev)
  await request(api, 'POST', maps, { metadata: { name: 'one' } })
  await request(api, 'GET', `${maps}/two`)
  await request(api, 'GET', nodes, undefined, { 'impersonate-user': 'dev' })
  await request(api, 'GET', '/version', undefined, asDev)
  await request(api, 'GET', '/version', undefined, { authorization: 'Bearer nonsense' })
  const seen = events.map(({ user, verb, requestURI, objectRef, annotations, responseStatus }) => [
    user.username,
    verb,
    requestURI,
    objectRef,
    annotations['authorization.k8s.io/decision'],
    responseStatus.code
  ])
  const home = { namespace: 'default', apiVersion: 'v1', resource: 'configmaps' }
  const refused = ['list', nodes, { apiVersion: 'v1', resource: 'nodes' }, 'forbid', 403]
  t.strictSame(seen, [
    ['dev', ...refused],
    ['admin', 'create', maps, home, 'allow', 201],
    ['admin', 'get', `${maps}/two`, { ...home, name: 'two' }, 'allow', 404],
    ['admin', ...refused],
    ['dev', 'get', '/version', undefined, 'allow', 200]
  ])
})
