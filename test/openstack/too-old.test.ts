// HV-30: every function that asks OpenStack for something says at its start when that is too old, and names the call.
import t from 'tap'
import { readConfig } from '../../shared/runtime/config.ts'
import type { DroverFunction } from '../../shared/runtime/function.ts'
import { RuntimeConfig } from '../../shared/runtime/runtime-config.ts'
import { startService } from '../../shared/runtime/service.ts'
import { readCrds } from '../functions/evict/crds.ts'
import { novaEnv } from '../functions/ha/stage.ts'
import { embedded } from '../local/kube-api/embedded.ts'
import { fakeOpenStack } from '../openstack-sdk-lite/fake.ts'
import { eventually } from '../servers/eventually.ts'

const names = ['aggregates', 'evict', 'ha', 'maintenance', 'migration', 'offboarding', 'onboarding', 'traits']

t.test('HV-30: what is too old is told by each of them, at the start', async t => {
  const { kubeconfig } = await embedded(t, { objects: await readCrds() })
  const old = await fakeOpenStack(t, { versions: { compute: { min: '2.1', max: '2.88' } } })
  for (const name of names) {
    const { default: fn } = (await import(`../../functions/${name}/handler.ts`)) as { default: DroverFunction }
    const lines: string[] = []
    const env = { ...novaEnv(old), OS_PROJECT_DOMAIN_NAME: 'Default', KUBECONFIG: kubeconfig, K_SINK: 'http://127.0.0.1:9' }
    const logs = { write: (line: string) => void lines.push(line) }
    const service = startService(fn, readConfig(RuntimeConfig, { env }), { env, logs })
    t.teardown(() => service.close())
    const said = (): string | undefined => lines.find(line => line.includes('this OpenStack is too old'))
    t.match(await eventually(`${name} to say it`, async () => said()), /needs a server with compute 2\.90/, name)
  }
})
