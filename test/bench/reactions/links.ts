// Both cables of a bond are pulled, until Nova's compute service is disabled: a real switch, its agent as a process of its own, the real Nova.
import { join } from 'node:path'
import { connect, type Cloud } from 'openstack-sdk-lite'
import { startDoomedAgent } from '../../agents/ovs/lab.ts'
import { bondAgainstSwitch } from '../../functions/ha/cables.ts'
import { patienceMs, stage } from '../../functions/ha/stage.ts'
import { environmentOf } from '../../functions/host-life/life.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { startKubernetes } from '../../servers/real-kubernetes.ts'
import { borrowOpenStack, prepare as prepareNova } from '../../servers/openstack.ts'
import { prepare, startOvsLab } from '../../servers/ovs.ts'
import { closing } from '../lib/closing.ts'
import type { Figures, Report } from '../lib/figures.ts'

const cuts = Number(process.env['CUTS'] ?? 20)

const note =
  'real OVS and Nova; RAISED: the function in the process of the bench, without the limits of its manifest, enableSeconds 0'
export const figures: Figures = {
  'reactions.bond-down-to-disabled.p50': { unit: 'ms', of: 'p50', note },
  'reactions.bond-down-to-disabled.p99': { unit: 'ms', of: 'p99', note }
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    for (const prepared of [await prepare(), await prepareNova()]) if (!prepared.ok) throw new Error(prepared.reason)
    const { target, stop } = await borrowOpenStack()
    t.teardown(stop)
    const cloud = await connect({ ...target.options, rate: { perSecond: 1e6, burst: 1e6 } })
    t.teardown(() => cloud.close())
    const api = await startKubernetes()
    t.teardown(() => api.stop())
    const [host] = target.hosts
    const { running } = await stage(t, api, host, 'host: { enableSeconds: 0 }\n', environmentOf(target))
    await running.watch()
    const lab = await startOvsLab(t, bondAgainstSwitch)
    const folder = join(lab.dir, 'n1')
    await startDoomedAgent(t, {
      dir: lab.dir,
      node: host,
      kubeconfig: await asServiceAccount(t, api, 'ovs-agent.yaml', 'ovs-agent'),
      namespace: 'ovn-system',
      sink: await running.relay(),
      env: { EXPECTED_BRIDGES: 'br-int,br-provider', OVS_RUN_DIR: folder, OVN_RUN_DIR: folder }
    })
    const cables = (state: string): void => void lab.run(`ip -n tor link set t10 ${state}; ip -n tor link set t11 ${state}`)
    const times: number[] = []
    for (let cut = 0; cut < cuts; cut++) {
      await becomes(cloud, host, 'enabled')
      await eventually(
        'a usable bond',
        async () =>
          /may_enable: true/.test(
            lab.run('ovs-appctl -t $DIR/n1/ovs-vswitchd.$(cat $DIR/n1/ovs-vswitchd.pid).ctl bond/show bond0')
          ),
        patienceMs
      )
      const from = performance.now()
      cables('down')
      times.push((await becomes(cloud, host, 'disabled')) - from)
      cables('up')
    }
    for (const figure of Object.keys(figures)) report(figure, times)
  })

/** When Nova says so. */
const becomes = (cloud: Cloud, host: string, status: string): Promise<number> =>
  eventually(
    `a service that is ${status}`,
    async () =>
      (await cloud.services.list({ host, binary: 'nova-compute' }))[0]?.status === status ? performance.now() : undefined,
    patienceMs
  )
