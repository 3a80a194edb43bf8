// Issue 12: with `npm start` the policy of functions/ha is the ConfigMap of knative/, as in a cluster, and a change of it holds at once.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { ConfigMap, connect } from '../../shared/kube/index.ts'
import { eventually } from '../servers/eventually.ts'
import { start } from './start.ts'

t.setTimeout(120_000)

t.test('the ConfigMap ha-policy is what functions/ha goes by, also when it is changed', async t => {
  const drover = start(t, '--hosts', '1', '--vms', '0', '--functions', 'hypervisor,ha')
  const [, kubeconfig = ''] = await drover.says(/export KUBECONFIG=(\S+)/)
  const [, explain = ''] = await drover.says(/ha +(http:\S+)/)
  await drover.says(/fleet +1 hosts/)
  const kube = await connect({ manager: 'test', kubeconfig })
  t.teardown(() => kube.close())
  const ref = { name: 'ha-policy', namespace: 'drover' }
  t.match((await kube.find(ConfigMap, ref.name, ref.namespace))?.data, { 'policy.yaml': /mode: observe/ })
  const token = /token: ?"?([^"\s]+)/.exec(await readFile(kubeconfig, 'utf8'))?.[1] ?? ''
  const modes = async (): Promise<unknown> => {
    const answer = await fetch(`${explain}/node001-zone-a`, { headers: { authorization: `Bearer ${token}` } })
    return answer.ok ? ((await answer.json()) as { modes: unknown }).modes : undefined
  }
  const becomes = (vm: string, signals: string): Promise<unknown> =>
    eventually(`${vm}, ${signals}`, async () => {
      const found = (await modes()) as { vm: string; signals: string } | undefined
      return found?.vm === vm && found.signals === signals
    })
  await becomes('observe', 'drover')
  await kube.patch(ConfigMap, ref, { data: { 'policy.yaml': 'mode: drover\nsignals: observe\n' } })
  await becomes('drover', 'observe')
  await kube.patch(ConfigMap, ref, { data: { 'policy.yaml': 'mode: sometimes\n' } })
  await drover.says(/the policy cannot be read; the last one holds/)
  t.strictSame(await modes(), { vm: 'drover', signals: 'observe' })
  t.equal(await drover.end('SIGINT'), 0)
})
