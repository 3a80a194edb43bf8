import type { Kube } from '../../shared/kube/index.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import type { Coalesce } from './coalesce.ts'
import type { Metrics } from './metrics.ts'
import type { Options } from './options.ts'
import type { Stores } from './stores.ts'

export interface Deps extends Pick<Platform, 'clock' | 'emit'> {
  kube: Kube
  stores: Stores
  options: Options
  log: Logger
  metrics: Metrics
  /** Generated Secrets that are known to be right, by uid of the Machine: what of it, and until when. */
  secrets: Map<string, { print: string; until: number }>
  /** How long that is believed; also the period of the resync (RECONCILE_INTERVAL). */
  resyncMs: number
  /** When all Machines were last looked at. */
  resynced: { at: number }
  /** One run at a time for each NetworkConfiguration, and one more for all who asked meanwhile: 500 new Machines are not 500 writes. */
  networks: Coalesce
  /** How many Machines a tick settles at once (MAX_CONCURRENT_RECONCILES). */
  concurrency: number
}

export interface Ref {
  namespace: string
  name: string
}
