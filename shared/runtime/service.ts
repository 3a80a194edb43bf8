import type { DestinationStream } from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { ConfigError, readConfig, type Env } from './config.ts'
import type { Emit } from './emitter.ts'
import type { DroverFunction, Platform } from './function.ts'
import { createLog, type Logger } from './log.ts'
import { opening } from './opening.ts'
import { receiverOf, type Receive } from './receive.ts'
import { recorder } from './record.ts'
import { routesOf, type FindRoute } from './routes.ts'
import type { RuntimeConfig } from './runtime-config.ts'

/** A function at work, apart from HTTP. Loaded after the port is open, since most of a cold start is loading. */
export interface Service {
  receive: Receive
  route: FindRoute
  log: Logger
  /** Why events cannot be handled yet; undefined when they can. */
  problem: () => string | undefined
  metrics: () => Promise<string>
  /** Counts and logs a request that never became an event. */
  unreadable: (status: number, reason: string) => void
  close: () => Promise<void>
}

export function startService(
  fn: DroverFunction,
  runtime: RuntimeConfig,
  { env, logs }: { env?: Env | undefined; logs?: DestinationStream } = {}
): Service {
  const config = readConfig(fn.config, { env })
  const problems = fn.problems?.(config) ?? []
  if (problems.length > 0) throw new ConfigError(problems)
  const stop = new AbortController()
  const closers: Array<() => void | Promise<void>> = []
  const log = createLog({ name: fn.name, level: runtime.logLevel, ...(logs && { to: logs }) })
  const metrics = new Registry()
  collectDefaultMetrics({ register: metrics })

  const platform: Platform = {
    log,
    clock: () => new Date(),
    emit: lazyEmitter(fn.name, runtime, { log, metrics, signal: stop.signal }),
    metrics,
    signal: stop.signal,
    onClose: close => void closers.push(close)
  }
  const { deps, problem } = opening(() => fn.open(config, platform), {
    signal: stop.signal,
    onRetry: (err, attempt, delayMs) => log.error({ err, attempt, delayMs }, 'not ready, trying again')
  })

  return {
    receive: receiverOf(fn, deps, platform),
    route: routesOf(fn.routes ?? {}, deps, log),
    log,
    problem,
    metrics: () => metrics.metrics(),
    unreadable: recorder(fn.name, platform).unreadable,
    async close() {
      stop.abort()
      for (const close of closers.toReversed()) await close()
    }
  }
}

/** Most functions never emit, and the SDK is a tenth of a function's memory: loaded with the first event. */
function lazyEmitter(name: string, runtime: RuntimeConfig, platform: Pick<Platform, 'log' | 'metrics' | 'signal'>): Emit {
  const load = async (): Promise<Emit> => {
    const { emitter } = await import('./emitter.ts')
    return emitter({ sink: runtime.kSink, source: `/functions/${name}`, timeoutMs: runtime.emitTimeout, ...platform })
  }
  let loading: Promise<Emit> | undefined
  return async event => (await (loading ??= load()))(event)
}
