// SinkBinding: K_SINK and K_CE_OVERRIDES.
import t from 'tap'
import { broker, sinkBinding } from './manifests.ts'
import { ref, start } from './start.ts'

const toBroker = { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: 'b' } }
const manifests = [
  broker('b'),
  sinkBinding('agents', { subject: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'hypervisor-agent' }, sink: toBroker }),
  sinkBinding('labelled', {
    subject: { apiVersion: 'apps/v1', kind: 'Deployment', selector: { matchLabels: { app: 'cluster' } } },
    sink: { ref: toBroker.ref, uri: '/more' },
    ceOverrides: { extensions: { zone: 'a' } }
  }),
  sinkBinding('elsewhere', {
    subject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x', namespace: 'other' },
    sink: ref('server')
  })
]

void t.test('by name, by label, by namespace', async t => {
  const running = await start(t, manifests, { server: { url: 'http://127.0.0.1:1/base' } })
  const at = (kind: string, name: string, namespace = 'test', labels?: Record<string, string>) =>
    running.sinkFor({ kind, name, namespace, ...(labels && { labels }) })
  t.strictSame(at('DaemonSet', 'hypervisor-agent'), { K_SINK: running.ingress('test', 'b'), K_CE_OVERRIDES: '' })
  t.strictSame(at('Deployment', 'any', 'test', { app: 'cluster' }), {
    K_SINK: running.ingress('test', 'b'),
    K_CE_OVERRIDES: '{"extensions":{"zone":"a"}}'
  })
  t.strictSame(at('Deployment', 'x', 'other'), { K_SINK: 'http://127.0.0.1:1/base', K_CE_OVERRIDES: '' })
  t.equal(at('DaemonSet', 'hypervisor-agent', 'other'), undefined)
  t.equal(at('Deployment', 'hypervisor-agent'), undefined)
  t.equal(at('Deployment', 'any', 'test', { app: 'other' }), undefined)
})
