// A real Keystone, Placement and Nova with three hypervisors, for the tests. openstack/openstack.sh does the work; this is its handle.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Auth } from 'openstack-sdk-lite'
import type { Test } from 'tap'
import { tidy } from './openstack/tidy.ts'
import type { Prepared } from './say.ts'

const run = promisify(execFile)
const script = join(import.meta.dirname, 'openstack', 'openstack.sh')
const shared = 'DROVER_OPENSTACK' // the runner's, handed to its test files

export interface OpenStack {
  options: { auth: Extract<Auth, { kind: 'password' }>; region: string }
  /** up, enabled and empty when a test begins */
  hosts: readonly [string, string, string]
  imageId: string
  flavorId: string
  /** how many seconds live moves away from this host take, or that they fail; undefined: the default, 5 s. With `server`: of this one alone */
  setLiveMove(host: string, how: number | 'fail' | undefined, server?: string): Promise<void>
  /** nova-compute of a host, known or new; one that runs is restarted */
  startAgent(host: string): Promise<void>
  stopAgent(host: string): Promise<void>
}

/** What only the real services can have happen to them. */
export interface RealOpenStack extends OpenStack {
  /** nova-compute of a host dies without a chance to tell anybody */
  killAgent(host: string): Promise<void>
  restartApi(): Promise<void>
  /** of the RabbitMQ in which Nova's notifications are */
  amqpUrl(): Promise<string>
}

interface Access {
  authUrl: string
  password: string
  dir: string
}

export const exclusive = true

export async function prepare(): Promise<Prepared> {
  if (process.platform !== 'linux') return { ok: false, reason: 'OpenStack: needs Debian' }
  try {
    await call('template')
    return { ok: true }
  } catch (err) {
    const { stderr, message } = err as Error & { stderr?: string }
    return { ok: false, reason: `OpenStack cannot be installed: ${stderr?.trim().split('\n').at(-1) || message}` }
  }
}

/** One OpenStack between all test files of a run. */
export async function share(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }> {
  const { stop, ...access } = await start()
  return { env: { [shared]: JSON.stringify(access) }, stop }
}

/** The run's OpenStack, or one of its own when the file is run alone; in both cases empty and for this test alone until it ends. */
export async function openstack(t: Test): Promise<RealOpenStack> {
  const given = process.env[shared]
  if (given !== undefined) return enter(t, JSON.parse(given) as Access)
  const { stop, ...access } = await start()
  t.teardown(stop)
  return handle(access)
}

/** For a bench, which has no test to end with. */
export async function borrowOpenStack(): Promise<{ target: RealOpenStack; stop: () => Promise<void> }> {
  const prepared = await prepare()
  if (!prepared.ok) throw new Error(prepared.reason)
  const { stop, ...access } = await start()
  return { target: handle(access), stop }
}

async function start(): Promise<Access & { stop: () => Promise<void> }> {
  const dir = join(await mkdtemp(join(tmpdir(), 'drover-os-')), 's')
  const env = { OSL_DIR: dir, OSL_OWNER: String(process.pid) }
  const stop = async (): Promise<void> => {
    await call('down', [], env)
    await rm(join(dir, '..'), { recursive: true, force: true })
  }
  try {
    await call('up', [], env)
    return { ...(JSON.parse(await readFile(join(dir, 'env.json'), 'utf8')) as Access), stop }
  } catch (err) {
    await stop()
    throw err
  }
}

async function enter(t: Test, access: Access): Promise<RealOpenStack> {
  const found = handle(access)
  const { default: file } = await import('tap') // not above: the runner and benches also import this module, and tap would print
  t.teardown(await lock(access.dir, () => file.setTimeout(file.options.timeout ?? 0)))
  await tidy(found)
  return found
}

/**
 * Test files run side by side, and hosts are few. The lock is a name in the kernel, which is free again even when its holder was killed.
 * The time in which a file must end begins when it has the lock; `waiting` is called meanwhile.
 */
async function lock(name: string, waiting: () => void): Promise<() => Promise<void>> {
  for (;;) {
    const server = createServer()
    const taken = await new Promise<boolean>(resolve =>
      server.once('error', () => resolve(false)).listen(`\0${name}`, () => resolve(true))
    )
    waiting()
    if (taken) return () => new Promise(resolve => server.close(() => resolve()))
    await pause(100)
  }
}

function handle({ authUrl, password, dir }: Access): RealOpenStack {
  const domain = { name: 'Default' }
  const env = { OSL_DIR: dir }
  return {
    options: {
      auth: {
        kind: 'password',
        url: authUrl,
        user: { name: 'admin', domain },
        password,
        scope: { project: { name: 'admin', domain } }
      },
      region: 'RegionOne'
    },
    hosts: ['hv1', 'hv2', 'hv3'],
    imageId: '11111111-2222-3333-4444-555555555555',
    flavorId: '1',
    async setLiveMove(host, how, server) {
      const file = join(dir, 'compute', host, server === undefined ? 'live-migration' : `live-migration-${server}`) // read by nova-launcher.py
      if (how === undefined) await rm(file, { force: true })
      else await writeFile(file, String(how))
    },
    startAgent: host => call('compute', [host], env),
    stopAgent: host => call('stop', [`nova-compute-${host}`], env),
    killAgent: host => call('kill', [`nova-compute-${host}`], env),
    restartApi: () => call('api', [], env),
    amqpUrl: async () => `amqp://guest:guest@127.0.0.1:${(await readFile(join(dir, 'run', 'AMQP.port'), 'utf8')).trim()}//`
  }
}

async function call(command: string, args: string[] = [], env: Record<string, string> = {}): Promise<void> {
  const running = run('bash', [script, command, ...args], { env: { ...process.env, ...env } })
  running.child.stderr?.pipe(process.stderr, { end: false })
  await running
}
