// functions/ha under its own role on the real API server and the real Nova, whose driver has no domains of its own: what an agent would write of them
// is written here.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectCloud } from 'openstack-sdk-lite'
import type { Test } from 'tap'
import handler from '../../../functions/ha/handler.ts'
import { isOver } from '../../../functions/ha/incident.ts'
import maintenance from '../../../functions/maintenance/handler.ts'
import type { Incident } from '../../../functions/ha/seen.ts'
import { connect } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { makeServers } from '../evict/nova.ts'
import { condition } from '../host-life/fixtures.ts'
import { environmentOf } from '../host-life/life.ts'
import { run } from '../host-life/platform.ts'
import type { Access } from '../../servers/access.ts'
import { eventually, patienceMs } from '../../servers/eventually.ts'
import { openRaw } from '../../servers/openstack/raw.ts'
import { openstack } from '../../servers/openstack.ts'

export async function novaStage(t: Test, api: Access, names: readonly string[], policyText: string) {
  const target = await openstack(t)
  const [host] = target.hosts
  const admin = await connect({ manager: 'hypervisor-agent', kubeconfig: api.kubeconfig })
  t.teardown(() => admin.close())
  const cloud = await connectCloud(target.options)
  t.teardown(() => cloud.close())
  const raw = await openRaw(target)
  const folder = await mkdtemp(join(tmpdir(), 'drover-ha-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const policy = join(folder, 'policy.yaml')
  await writeFile(policy, policyText)
  const env = { ...environmentOf(target), LISTING_AGE: '0s' }
  const running = await run(t, api, [handler, maintenance], env, { ha: { POLICY_FILE: policy } })
  await running.watch()
  const ids = await makeServers(
    cloud,
    target,
    names.map(name => ({ name, host }))
  )
  const id = (name: string): string => ids.get(name) ?? ''

  await admin.create(Hypervisor, { metadata: { name: host } })
  const [service] = await cloud.services.list({ host, binary: 'nova-compute' })
  const serviceId = service?.id ?? ''
  const settled = await connect({ manager: 'drover-onboarding', kubeconfig: api.kubeconfig })
  await settled.applyStatus(Hypervisor, {
    metadata: { name: host },
    status: { serviceId, nova: { host }, conditions: [condition('Onboarding', 'False')] as never }
  })
  settled.close()

  const states = new Map(names.map(name => [name, { state: 'running', since: new Date(Date.now() - 3_600_000).toISOString() }]))
  /** What the agent would write. */
  async function domains(changed: Record<string, string>): Promise<void> {
    for (const [name, state] of Object.entries(changed)) states.set(name, { state, since: new Date().toISOString() })
    const instances = [...states].map(([name, { state, since }]) => ({
      id: id(name),
      name,
      active: state === 'running',
      state,
      since
    }))
    instances.sort((a, b) => a.id.localeCompare(b.id))
    await admin.applyStatus(Hypervisor, {
      metadata: { name: host },
      status: {
        instances,
        numInstances: instances.length,
        conditions: [{ ...condition('LibVirtConnection', 'True', 'Connected') }] as never
      }
    })
  }
  await domains({})

  const incident = async (name: string): Promise<Incident | undefined> =>
    (await admin.find(Hypervisor, host))?.status?.ha?.incidents?.find(({ server }) => server === id(name))
  return {
    target,
    host,
    admin,
    cloud,
    raw,
    running,
    serviceId,
    id,
    domains,
    incident,
    act: async (name: string, action: string, body: unknown = null): Promise<void> => {
      const { status, body: answer } = await raw('compute', 'POST', `/servers/${id(name)}/action`, { [action]: body })
      if (status >= 300) throw new Error(`${action}: ${status} ${JSON.stringify(answer)}`)
    },
    /** The file of the policy as it is from now on. */
    rules: (text: string): Promise<void> => writeFile(policy, text),
    ends: (name: string): Promise<Incident> =>
      eventually(
        `the end of ${name}`,
        async () => {
          await running.tick('fast', 'ha')
          const found = await incident(name)
          return found && isOver(found) ? found : undefined
        },
        patienceMs
      ),
    fact: (name: string, event: string, detail: string) => ({
      host,
      at: new Date().toISOString(),
      bootId: 'boot-1',
      epoch: 1,
      server: id(name),
      name,
      event,
      detail
    }),
    actions: async (name: string, action: string) =>
      (await cloud.instanceActions.list(id(name))).filter(one => one.action === action)
  }
}
