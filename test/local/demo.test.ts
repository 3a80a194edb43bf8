// README's first command does the main job: hosts come into service by themselves, and one is taken out again.
import t from 'tap'
import { connect } from '../../shared/kube/index.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { start } from './start.ts'

const patienceMs = 150_000 // 30 s on an idle machine
t.setTimeout(2 * patienceMs)

t.test('the fleet comes into service, and one host is drained of its servers', async t => {
  const drover = start(t, '--hosts', '6', '--zones', '2', '--vms', '1')
  const [, kubeconfig = ''] = await drover.says(/export KUBECONFIG=(\S+)/)
  const kube = await connect({ manager: 'operator', kubeconfig })
  t.teardown(() => kube.close())
  const reason = (host: Hypervisor | undefined) => host?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason
  const hosts = await eventually(
    'six hosts that are Ready',
    async () => {
      const { items } = await kube.list(Hypervisor)
      return items.length === 6 && items.every(host => reason(host) === 'Ready') && items
    },
    patienceMs
  )
  t.ok(
    hosts.every(({ status }) => status?.serviceId && status.hypervisorId && status.aggregates?.length),
    'known to Nova'
  )
  const name = hosts[0]?.metadata.name ?? ''
  await kube.patch(Hypervisor, { name }, { spec: { maintenance: 'manual', maintenanceReason: 'firmware' } })
  await eventually('an empty host', async () => reason(await kube.find(Hypervisor, name)) === 'Evicted', patienceMs)
  t.equal(await drover.end('SIGTERM'), 0)
})
