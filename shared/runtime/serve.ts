import type { AddressInfo, Server } from 'node:net'
import closeWithGrace from 'close-with-grace'
import { readConfig, type Env } from './config.ts'
import type { DroverFunction } from './function.ts'
import { httpEdge } from './http-edge.ts'
import type { Logger } from './log.ts'
import { RuntimeConfig } from './runtime-config.ts'
import type { Service } from './service.ts'
import type { RouteEdge } from './route-edge.ts'

/** A function, or how to load it: `() => import('./handler.ts')` lets the port open before the handler is loaded. */
export type Source = DroverFunction | (() => Promise<{ default: DroverFunction }>)

export interface ServeOptions {
  env?: Env
  port?: number
  host?: string
}

export interface Served {
  url: string
  /** Of the second port, if one was asked for. */
  tlsUrl?: string
  graceMs: number
  log: Logger
  /** Refuses new events, waits for the running ones, then closes what the function opened. */
  close: () => Promise<void>
}

/** Opens the port first, then loads the function and opens its dependencies; events wait for that. */
export async function serve(source: Source, { env, ...overrides }: ServeOptions = {}): Promise<Served> {
  const config = { ...readConfig(RuntimeConfig, { env }), ...overrides }
  const starting = Promise.withResolvers<Service>()
  const { app, drain } = httpEdge(starting.promise, config.maxBodyBytes)
  await app.listen({ port: config.port, host: config.host })
  const url = urlOf(app.server)
  try {
    const [{ startService }, fn] = await Promise.all([import('./service.ts'), load(source)])
    const service = startService(fn, config, { env })
    const tls = await openTls(service, config)
    starting.resolve(service)
    const tlsUrl = tls && `https://127.0.0.1:${tls.port}`
    service.log.info({ url, tlsUrl }, 'listening')
    const close = () => Promise.all([drain(), tls?.drain()]).then(service.close)
    return { url, ...(tlsUrl !== undefined && { tlsUrl }), graceMs: config.grace, log: service.log, close }
  } catch (error) {
    starting.reject(error)
    await app.close()
    throw error
  }
}

async function openTls(service: Service, { tlsPort, host, tlsDir, tlsRenew }: RuntimeConfig): Promise<RouteEdge | undefined> {
  if (tlsPort === undefined) return undefined
  const { tlsEdge } = await import('./tls-edge.ts')
  return tlsEdge(service, { port: tlsPort, host, dir: tlsDir, renewMs: tlsRenew })
}

const load = async (source: Source): Promise<DroverFunction> => (typeof source === 'function' ? (await source()).default : source)

function urlOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo
  if (address === '::' || address === '0.0.0.0') return `http://127.0.0.1:${port}`
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

/**
 * The whole of a function's main.ts. Exit code 0: stopped by a signal and every running event answered within the grace
 * time. 1: it was not to be, or a second signal came, or the function could not be started.
 */
export async function main(source: Source): Promise<void> {
  let served: Served
  try {
    served = await serve(source)
  } catch (err) {
    const { createLog } = await import('./log.ts')
    createLog({ name: 'drover' }).fatal({ err }, 'cannot start')
    process.exit(1)
  }
  const { log, graceMs } = served
  const onTimeout = (): void => log.error({ graceMs }, 'grace time is over, exiting')
  const onSecondSignal = (signal: string): void => log.error({ signal }, 'second signal, exiting')
  closeWithGrace({ delay: graceMs, logger: false, onTimeout, onSecondSignal }, async ({ signal, err }) => {
    if (err) log.fatal({ err }, 'unexpected error, stopping')
    else log.info({ signal }, 'stopping')
    await served.close()
  })
}
