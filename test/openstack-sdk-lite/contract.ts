// The contract with OpenStack (HV-62): the same cases for the real services and for the fake. A difference is a fault of the fake.
import type { Test } from 'tap'
import { calls, connect, limits } from 'openstack-sdk-lite'
import { bodies } from './contract/bodies.ts'
import { died } from './contract/died.ts'
import { evacuation } from './contract/evacuation.ts'
import { groups } from './contract/groups.ts'
import { hosts } from './contract/hosts.ts'
import { identity } from './contract/identity.ts'
import { imagesNetworks } from './contract/images-networks.ts'
import { moves } from './contract/moves.ts'
import { placement } from './contract/placement.ts'
import { openRaw } from '../servers/openstack/raw.ts'
import type { Part } from './contract/scene.ts'
import { servers } from './contract/servers.ts'
import type { Target } from './contract/target.ts'

const parts: Record<string, Part> = {
  identity,
  hosts,
  placement,
  servers,
  bodies,
  moves,
  groups,
  evacuation,
  died,
  imagesNetworks
}

// Placement answers 200 with nothing in it for a consumer that it does not know; other releases may say 404
const neverSeen = new Set(['allocations.get 404'])

export async function contract(t: Test, target: Target): Promise<void> {
  const seen = new Set<string>()
  const versions = new Map<string, string | undefined>()
  const cloud = await connect({
    ...target.options,
    onCall({ call, status, version }) {
      seen.add(`${call} ${status}`)
      versions.set(call, version)
    }
  })
  t.teardown(() => cloud.close())
  const raw = await openRaw(target)
  for (const [name, part] of Object.entries(parts)) await t.test(name, t => part(t, { cloud, target, raw }))

  await t.test('HV-62: every call was made, every good code was seen, each with a version between floor and cap', async t => {
    const missed = calls
      .flatMap(({ name, ok }) => ok.map(status => `${name} ${status}`))
      .filter(call => !seen.has(call) && !neverSeen.has(call))
    t.strictSame(missed, [])
    for (const { name, service, until } of calls) {
      const limit = limits[service]
      const version = versions.get(name)
      if (!limit) t.equal(version, undefined, name)
      else
        t.ok(
          version !== undefined &&
            (version === until || minor(version) >= minor(limit.floor)) &&
            minor(version) <= minor(limit.cap),
          `${name}: ${version}`
        )
    }
  })
}

const minor = (version: string): number => Number(version.split('.')[1])
