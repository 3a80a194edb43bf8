// The ports (H2), the three pages (H1) and the end of a label that users choose (MT2).
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import t from 'tap'
import { createMetrics } from '../../../functions/machine/metrics.ts'
import { parseAddress, servePages } from '../../../functions/machine/ports.ts'

t.test('H2: an address is read, and Knative’s own ports are refused by the name of the variable', async t => {
  t.strictSame(parseAddress('METRICS_BIND_ADDRESS', ':8081'), { host: undefined, port: 8081 })
  t.strictSame(parseAddress('METRICS_BIND_ADDRESS', '127.0.0.1:8081'), { host: '127.0.0.1', port: 8081 })
  t.strictSame(parseAddress('METRICS_BIND_ADDRESS', '[::1]:8081'), { host: '::1', port: 8081 })
  for (const port of [8008, 8012, 8013, 8022, 8112, 9090, 9091])
    t.throws(() => parseAddress('METRICS_BIND_ADDRESS', `:${port}`), { message: new RegExp(`METRICS_BIND_ADDRESS.*${port}`) })
  for (const wrong of ['8081', ':', ':http', ':70000'])
    t.throws(() => parseAddress('HEALTH_PROBE_BIND_ADDRESS', wrong), { message: /HEALTH_PROBE_BIND_ADDRESS/ }, wrong)
})

t.test('H1: 200 or 500, and 200 for the metrics', async t => {
  let problem: string | undefined
  const pages = { metrics: async () => 'a 1\n', problem: async () => problem }
  const server = await servePages({ host: '127.0.0.1', port: 0 }, pages)
  t.teardown(() => server.close())
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).status
  t.strictSame([await get('/healthz'), await get('/readyz'), await get('/metrics'), await get('/else')], [200, 200, 200, 404])
  problem = 'no API server'
  t.strictSame([await get('/healthz'), await get('/readyz')], [200, 500])
})

t.test('MT2: a hundred networks have their own count, the others one together', async t => {
  const registry = new Registry()
  const metrics = createMetrics(registry)
  for (let n = 0; n < 105; n++) metrics.networkFailed(`net-${n}`)
  metrics.networkFailed('net-3')
  const text = await registry.metrics()
  t.equal(text.match(/^kubevirt_operator_network_configuration_errors_total\{/gm)?.length, 101)
  t.match(text, 'network_name="other"} 5')
  t.match(text, 'network_name="net-3"} 2')
})
