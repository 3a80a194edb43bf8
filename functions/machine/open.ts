import { hostname } from 'node:os'
import { connect, holdLease, type HeldLease, type Kube } from '../../shared/kube/index.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import { coalesce } from './coalesce.ts'
import type { Settings } from './config.ts'
import type { Deps } from './deps.ts'
import { countStored, createMetrics } from './metrics.ts'
import { manager } from './names.ts'
import { parseAddress, servePages } from './ports.ts'
import { seedLog } from './seed-log.ts'
import { openStores } from './stores.ts'

export async function openDeps(
  settings: Settings,
  { clock, emit, log: processLog, metrics: registry, onClose }: Platform
): Promise<Deps> {
  const log = seedLog(processLog)
  const pages = addressesOf(settings)
  const kube = await connect({ manager, log, kubeconfig: settings.kubeconfig })
  const stop = new AbortController()
  let lease: HeldLease | undefined
  const close = async (): Promise<void> => {
    stop.abort()
    await lease?.ended // given back, so that the other replica need not wait for its end
    kube.close()
  }
  try {
    const stores = openStores(kube, stop.signal, log)
    await Promise.all(Object.values(stores).map(({ ready }) => ready))
    for (const address of pages) {
      const server = await servePages(address, { metrics: () => registry.metrics(), problem: () => problemOf(kube) })
      onClose(() => void server.close())
    }
    lease = leadership(settings, kube, stop.signal, log)
    countStored(registry, stores, () => lease?.held ?? true)
    onClose(close)
    return {
      kube,
      stores,
      clock,
      emit,
      log,
      metrics: createMetrics(registry),
      secrets: new Map(),
      networks: coalesce(),
      resynced: { at: -Infinity },
      resyncMs: settings.reconcileInterval,
      concurrency: settings.maxConcurrentReconciles,
      options: {
        architecture: settings.architecture,
        allowI440fx: settings.allowI440fx,
        macSeed: settings.macSeed,
        cniVersion: settings.nadCniVersion,
        unschedulableGraceMs: settings.unschedulableGrace
      }
    }
  } catch (err) {
    await close()
    throw err
  }
}

/** H2: what is the function's own port, or the same twice, needs no listener. */
function addressesOf({ metricsBindAddress, healthProbeBindAddress, port }: Settings) {
  const given = [
    ...(metricsBindAddress === undefined ? [] : [parseAddress('METRICS_BIND_ADDRESS', metricsBindAddress)]),
    ...(healthProbeBindAddress === undefined ? [] : [parseAddress('HEALTH_PROBE_BIND_ADDRESS', healthProbeBindAddress)])
  ]
  return [...new Map(given.map(address => [address.port, address])).values()].filter(address => address.port !== port)
}

async function problemOf(kube: Kube): Promise<string | undefined> {
  try {
    await kube.health()
    return undefined
  } catch (err) {
    return (err as Error).message
  }
}

/** Left out: no second replica to agree with. */
function leadership(
  { leaderElection, namespace, podName = hostname() }: Settings,
  kube: Kube,
  signal: AbortSignal,
  log: Logger
): HeldLease | undefined {
  if (!leaderElection || namespace === undefined) return undefined
  return holdLease(kube, { name: manager, namespace, identity: podName, signal, log })
}
