// Every request that this library can make. What is not here cannot be sent.
import type { Call } from './call.ts'
import * as aggregates from './resources/aggregates.ts'
import { listCandidates } from './resources/allocation-candidates.ts'
import * as allocations from './resources/allocations.ts'
import * as hypervisors from './resources/hypervisors.ts'
import { listImages } from './resources/images.ts'
import * as instanceActions from './resources/instance-actions.ts'
import * as migrations from './resources/migrations.ts'
import { listNetworks } from './resources/networks.ts'
import * as providers from './resources/resource-providers.ts'
import * as actions from './resources/server-actions.ts'
import * as servers from './resources/servers.ts'
import * as services from './resources/services.ts'
import { createToken } from './resources/tokens.ts'
import * as traits from './resources/traits.ts'

export const calls: readonly Call<string, unknown>[] = [
  hypervisors.searchHypervisors,
  hypervisors.getHypervisor,
  services.updateService,
  services.listServices,
  services.deleteService,
  servers.findServers,
  servers.getServer,
  servers.createServer,
  actions.consoleOutput,
  servers.deleteServer,
  aggregates.listAggregates,
  aggregates.createAggregate,
  aggregates.addHost,
  aggregates.removeHost,
  servers.listServers,
  migrations.listMigrations,
  actions.liveMigrate,
  actions.migrate,
  migrations.abortMigration,
  migrations.listRunning,
  instanceActions.listActions,
  instanceActions.getAction,
  actions.confirmResize,
  migrations.forceComplete,
  actions.shelveOffload,
  actions.resume,
  actions.suspend,
  actions.resetState,
  actions.evacuate,
  actions.reboot,
  actions.start,
  providers.getProviderTraits,
  providers.putProviderTraits,
  traits.listTraits,
  traits.createTrait,
  providers.getInventories,
  providers.getUsages,
  providers.getProvider,
  providers.listProviders,
  providers.getProviderAllocations,
  allocations.getAllocations,
  allocations.deleteAllocations,
  providers.deleteProvider,
  listCandidates,
  listImages,
  listNetworks,
  createToken
]
