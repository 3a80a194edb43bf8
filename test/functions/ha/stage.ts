// functions/ha under its own role on a real API server, with the fake OpenStack; agents send to it as through the broker. One host in Nova.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import handler from '../../../functions/ha/handler.ts'
import type { Ha, Incident } from '../../../functions/ha/seen.ts'
import { connect, type Kube } from '../../../shared/kube/index.ts'
import { startOpenStack, type FakeOpenStack, type Host } from '../../../shared/local/openstack/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { broker, type Broker } from '../../agents/hypervisor/harness.ts'
import type { Access } from '../../servers/access.ts'
import { eventually } from '../../servers/eventually.ts'
import { condition } from '../host-life/fixtures.ts'
import { run, type Running } from '../host-life/platform.ts'

export interface Stage {
  fake: FakeOpenStack
  admin: Kube
  running: Running
  /** what the function tells others */
  told: Broker
  ha: () => Promise<Ha>
  incident: (server: string) => Promise<Incident | undefined>
  /** Its incident, as soon as nothing more is to come; one that was reported as less is opened again by the event that says more. */
  ended: (server: string, kind?: string | RegExp) => Promise<Incident>
  /** The function looks at the host now, without any news of it; answers when it has. */
  look: () => Promise<number>
  /** Nova's compute service of the host, as soon as it is so. */
  service: (status: Host['status']) => Promise<Host>
  /** What somebody else asks Nova for. */
  nova: (method: string, path: string, body?: object) => Promise<void>
  /** servers that Nova was asked to restart, in the order of the requests */
  restarted: () => string[]
}

/** What a function is told of this OpenStack. */
export const novaEnv = ({ authUrl, account: { user, password } }: FakeOpenStack): Record<string, string> => ({
  OS_AUTH_URL: authUrl,
  OS_USERNAME: user,
  OS_PASSWORD: password,
  OS_PROJECT_NAME: 'admin',
  OS_USER_DOMAIN_NAME: 'Default',
  OS_PROJECT_DOMAIN_NAME: 'Default',
  OS_REGION_NAME: 'RegionOne'
})

export const patienceMs = 240_000

export async function stage(
  t: Test,
  api: Access,
  host: string,
  policy: string,
  env: Record<string, string> = {}
): Promise<Stage> {
  const fake = await startOpenStack({ hosts: [host] })
  t.teardown(async () => {
    await fake.close()
    if (fake.unexpected.length > 0) throw new Error(`calls that the fake does not know: ${fake.unexpected.join(', ')}`)
  })
  const folder = await mkdtemp(join(tmpdir(), 'drover-ha-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'policy.yaml')
  await writeFile(file, policy)
  const told = await broker(t)
  const base = { ...novaEnv(fake), LISTING_AGE: '0s', K_SINK: told.url }
  const running = await run(t, api, [handler], { ...base, POLICY_FILE: file, ...env })
  const admin = await connect({ manager: 'drover-onboarding', kubeconfig: api.kubeconfig })
  t.teardown(() => admin.close())
  await admin.create(Hypervisor, { metadata: { name: host } })
  await admin.applyStatus(Hypervisor, {
    metadata: { name: host },
    status: {
      serviceId: fake.host(host).serviceId ?? '',
      nova: { host },
      conditions: [condition('Onboarding', 'False')] as never
    }
  })
  const ha = async (): Promise<Ha> => (await admin.find(Hypervisor, host))?.status?.ha ?? {}
  const incident = async (id: string): Promise<Incident | undefined> =>
    (await ha()).incidents?.find(({ server }) => server === id)
  return {
    fake,
    admin,
    running,
    told,
    ha,
    incident,
    async ended(server, kind = '') {
      let last: Incident | undefined
      const over = async (): Promise<Incident | undefined> => {
        last = await incident(server)
        if (!last || !['Recovered', 'Reported', 'Blocked', 'Closed'].includes(last.state)) return undefined
        return kind === '' || last.kind.search(kind) >= 0 ? last : undefined
      }
      return eventually(`the end of ${server}`, over, patienceMs).catch((cause: unknown) => {
        throw new Error(`it is ${JSON.stringify(last)}`, { cause })
      })
    },
    look: () => running.hypervisorChanged('ha', host),
    service: status =>
      eventually(
        `a service that is ${status}`,
        async () => (fake.host(host).status === status ? fake.host(host) : undefined),
        patienceMs
      ),
    async nova(method, path, body) {
      const { id } = fake.tokens.issue('password', '', false)
      const headers = { 'content-type': 'application/json', 'x-auth-token': id, 'openstack-api-version': 'compute 2.90' }
      const url = `${fake.authUrl.replace('/identity/v3', '/compute/v2.1')}${path}`
      const { ok, status } = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      if (!ok) throw new Error(`${method} ${path}: ${status}`)
    },
    restarted: () =>
      [...fake.world.instances.values()].flatMap(({ id, actions }) =>
        actions.filter(({ action }) => action === 'reboot').map(() => id)
      )
  }
}
