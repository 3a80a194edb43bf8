// The door: options in, named calls out. Nothing is asked of any service until the first call.
import { readFile } from 'node:fs/promises'
import type { Send } from './call.ts'
import { calls } from './calls.ts'
import { aggregates, type Aggregates } from './resources/aggregates.ts'
import { allocationCandidates, type AllocationCandidates } from './resources/allocation-candidates.ts'
import { allocations, type Allocations } from './resources/allocations.ts'
import { hypervisors, type Hypervisors } from './resources/hypervisors.ts'
import { images, type Images } from './resources/images.ts'
import { instanceActions, type InstanceActions } from './resources/instance-actions.ts'
import { migrations, type Migrations } from './resources/migrations.ts'
import { networks, type Networks } from './resources/networks.ts'
import { resourceProviders, type ResourceProviders } from './resources/resource-providers.ts'
import { type ServerActions, serverActions } from './resources/server-actions.ts'
import { servers, type Servers } from './resources/servers.ts'
import { services, type Services } from './resources/services.ts'
import { traits, type Traits } from './resources/traits.ts'
import { type Context, openSession, type SessionOptions } from './session/session.ts'

export interface ConnectOptions extends SessionOptions {
  /** a file of certificates (PEM) to trust instead of the system's */
  caFile?: string | undefined
}

export interface Resources {
  servers: Servers & ServerActions
  migrations: Migrations
  hypervisors: Hypervisors
  services: Services
  aggregates: Aggregates
  instanceActions: InstanceActions
  resourceProviders: ResourceProviders
  traits: Traits
  allocations: Allocations
  allocationCandidates: AllocationCandidates
  images: Images
  networks: Networks
}

export interface Cloud extends Resources {
  /** The same calls on behalf of one caller: with a signal that ends them, or an id that OpenStack's services log. */
  with(context: Context): Resources
  /** Throws unless every call can be made with the versions that the services offer; names the one that cannot. */
  check(): Promise<void>
  close(): void
}

export async function connect({ caFile, ...options }: ConnectOptions): Promise<Cloud> {
  const session = openSession({ ...options, ...(caFile && { ca: await readFile(caFile, 'utf8') }) })
  return {
    ...resources(session.send({})),
    with: context => resources(session.send(context)),
    check: () => session.check(calls),
    close: () => session.close()
  }
}

const resources = (send: Send): Resources => ({
  servers: { ...servers(send), ...serverActions(send) },
  migrations: migrations(send),
  hypervisors: hypervisors(send),
  services: services(send),
  aggregates: aggregates(send),
  instanceActions: instanceActions(send),
  resourceProviders: resourceProviders(send),
  traits: traits(send),
  allocations: allocations(send),
  allocationCandidates: allocationCandidates(send),
  images: images(send),
  networks: networks(send)
})
