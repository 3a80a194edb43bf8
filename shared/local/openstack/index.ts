// A small OpenStack that behaves: Keystone, Nova, Placement, Glance and Neutron over one world, on one port of this machine.
// test/openstack-sdk-lite/contract.ts runs against it and against the real services; a difference is a fault of this one.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { addAggregate, aggregateRoutes } from './api/aggregates.ts'
import { allocationRoutes } from './api/allocations.ts'
import { hostRoutes } from './api/hosts.ts'
import { identityRoutes } from './api/identity.ts'
import { imageRoutes, networkRoutes } from './api/images-networks.ts'
import { instanceActionRoutes } from './api/instance-actions.ts'
import { migrationRoutes } from './api/migrations.ts'
import { providerRoutes } from './api/providers.ts'
import { serverActionRoutes } from './api/server-actions.ts'
import { serverGroupRoutes } from './api/server-groups.ts'
import { serverRoutes } from './api/servers.ts'
import { type Account, createTokens, type Tokens } from './api/tokens.ts'
import { createFaults, type Faults } from './http/faults.ts'
import { createDoor, type Seen } from './http/server.ts'
import type { Versions } from './http/versions.ts'
import { realClock, type WorldClock } from './world/clock.ts'
import { type Pace, quickPace } from './world/pace.ts'
import { addHost, type NewHost } from './world/hosts.ts'
import { killAgent } from './world/agents.ts'
import { startAgent, stopAgent } from './world/init-host.ts'
import { createInstance, settleInstance } from './world/instances.ts'
import {
  type AggregateRecord,
  createWorld,
  type Flavor,
  type Host,
  type Instance,
  smallFlavor,
  type World
} from './world/world.ts'

export { type ManualClock, manualClock, realClock, type WorldClock } from './world/clock.ts'
export type { Effect, Fault } from './http/faults.ts'
export { tell } from './world/instances.ts'
export { breakMove } from './world/live-moves.ts'
export type { Seen } from './http/server.ts'
export type { Pace } from './world/pace.ts'
export type { Flavor, Host, Instance, World } from './world/world.ts'

export interface FakeOptions {
  hosts?: readonly (string | NewHost)[]
  regions?: readonly string[]
  versions?: Partial<Versions>
  clock?: WorldClock
  /** by how much the clock of the cloud is ahead of ours */
  aheadMs?: number
  newId?: () => string
  pace?: Partial<Pace>
  port?: number
}

export interface NewFakeServer {
  id?: string
  name: string
  host: string
  flavor?: Flavor
  zone?: string
  metadata?: Record<string, string>
  /** in another project than the one that asks */
  projectId?: string
}

export interface FakeOpenStack {
  /** Keystone's, ending in /v3 */
  authUrl: string
  account: Account
  /** all that is known; a test may look at it and change it */
  world: World
  tokens: Tokens
  faults: Faults
  /** every request since the start or the last `forget()` */
  requests: readonly Seen[]
  /** what no route knows; a test fails unless it is empty */
  unexpected: readonly string[]
  forget(): void
  onConnection(listener: () => void): void
  addHost(host: NewHost): Host
  host(name: string): Host
  addServer(server: NewFakeServer): Instance
  addAggregate(name: string, zone?: string | null, hosts?: string[]): AggregateRecord
  /** nova-compute ends in an orderly way; its service is down some time later (`pace.serviceDown`) */
  stopAgent(host: string): void
  /** nova-compute dies without a chance to do anything */
  killAgent(host: string): void
  /** a known host or a new one; nova-compute that runs is restarted */
  startAgent(host: string): void
  close(): Promise<void>
}

const account: Account = {
  user: 'admin',
  password: 'fake-password',
  userId: 'user-admin',
  projectId: 'project-admin',
  applicationCredential: { id: 'fake-credential', secret: 'fake-secret' }
}

export async function startOpenStack(options: FakeOptions = {}): Promise<FakeOpenStack> {
  const { clock = realClock, newId = randomUUID, regions = ['RegionOne'], port = 0 } = options
  const { aheadMs = 0 } = options
  const own: WorldClock = { now: () => clock.now() + aheadMs, after: (ms, run) => clock.after(ms, run) }
  const world = createWorld(own, newId, { ...quickPace, ...options.pace })
  const tokens = createTokens(world, account, regions)
  const faults = createFaults()
  const requests: Seen[] = []
  const unexpected: string[] = []
  const routes = [
    serverRoutes,
    serverActionRoutes,
    serverGroupRoutes,
    migrationRoutes,
    hostRoutes,
    aggregateRoutes,
    instanceActionRoutes,
    providerRoutes
  ]
  const door = createDoor({
    world,
    routes: [...routes, allocationRoutes, imageRoutes, networkRoutes, identityRoutes(tokens)].flat(),
    tokens,
    faults,
    versions: { compute: { min: '2.1', max: '2.96' }, placement: { min: '1.0', max: '1.39' }, ...options.versions },
    who: account,
    seen: request => requests.push(request),
    unexpected: call => unexpected.push(call)
  })
  door.listen(port, '127.0.0.1')
  await once(door, 'listening')
  for (const host of options.hosts ?? []) addHost(world, typeof host === 'string' ? { name: host } : host)
  const { port: bound } = door.address() as AddressInfo

  const host = (name: string): Host => {
    const found = world.hosts.get(name)
    if (!found) throw new Error(`the fake OpenStack has no host ${name}`)
    return found
  }
  return {
    authUrl: `http://127.0.0.1:${bound}/identity/v3`,
    account,
    world,
    tokens,
    faults,
    requests,
    unexpected,
    forget: () => void requests.splice(0),
    onConnection: listener => void door.on('connection', listener),
    addHost: given => addHost(world, given),
    host,
    addServer({ host: on, flavor = smallFlavor, ...given }) {
      const instance = createInstance(world, { userId: account.userId, projectId: account.projectId, flavor, ...given })
      settleInstance(world, instance, host(on))
      return instance
    },
    addAggregate: (name, zone, hosts) => addAggregate(world, name, zone, hosts),
    stopAgent: name => stopAgent(world, host(name)),
    killAgent: name => killAgent(world, host(name)),
    startAgent(name) {
      if (world.hosts.has(name)) startAgent(world, host(name))
      else addHost(world, { name })
    },
    async close() {
      door.closeAllConnections()
      door.close()
      await once(door, 'close')
    }
  }
}
