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

/** So many clouds a run has, and so many test files that want one run at a time: each takes a free one for itself. */
export const exclusive = 2

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

/** Clouds between all test files of a run. */
export async function share(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }> {
  const begun = await Promise.allSettled(Array.from({ length: exclusive }, start))
  const clouds = begun.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  const stop = async (): Promise<void> => void (await Promise.all(clouds.map(({ stop }) => stop())))
  const failed = begun.find(one => one.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  return { env: { [shared]: JSON.stringify(clouds.map(({ access }) => access)) }, stop }
}

/** One of the run's clouds, or one of its own when the file is run alone; in both cases empty and for this test alone until it ends. */
export async function openstack(t: Test): Promise<RealOpenStack> {
  const given = process.env[shared]
  if (given !== undefined) return enter(t, JSON.parse(given) as Access[])
  const { access, stop } = await start()
  t.teardown(stop)
  return handle(access)
}

/** For a bench, which has no test to end with. */
export async function borrowOpenStack(): Promise<{ target: RealOpenStack; stop: () => Promise<void> }> {
  const prepared = await prepare()
  if (!prepared.ok) throw new Error(prepared.reason)
  const { access, stop } = await start()
  return { target: handle(access), stop }
}

async function start(): Promise<{ access: Access; stop: () => Promise<void> }> {
  const dir = join(await mkdtemp(join(tmpdir(), 'drover-os-')), 's')
  const env = { OSL_DIR: dir, OSL_OWNER: String(process.pid) }
  const stop = async (): Promise<void> => {
    await call('down', [], env)
    await rm(join(dir, '..'), { recursive: true, force: true })
  }
  try {
    await call('up', [], env)
    return { access: JSON.parse(await readFile(join(dir, 'env.json'), 'utf8')) as Access, stop }
  } catch (err) {
    await stop()
    throw err
  }
}

async function enter(t: Test, clouds: readonly Access[]): Promise<RealOpenStack> {
  const { default: file } = await import('tap') // not above: the runner and benches also import this module, and tap would print
  const { access, release } = await takeOne(clouds, () => file.setTimeout(file.options.timeout ?? 0))
  t.teardown(release)
  const found = handle(access)
  await tidy(found)
  return found
}

/** The time in which a file must end begins when it has a cloud for itself; `waiting` is called meanwhile. */
async function takeOne(
  clouds: readonly Access[],
  waiting: () => void
): Promise<{ access: Access; release: () => Promise<void> }> {
  for (;;) {
    for (const access of clouds) {
      const release = await lock(access.dir)
      if (release) return { access, release }
    }
    waiting()
    await pause(100)
  }
}

/** A name in the kernel, which is free again even when its holder was killed. Undefined: somebody else has it. */
async function lock(name: string): Promise<(() => Promise<void>) | undefined> {
  const server = createServer()
  const taken = await new Promise<boolean>(resolve =>
    server.once('error', () => resolve(false)).listen(`\0${name}`, () => resolve(true))
  )
  return taken ? () => new Promise(resolve => server.close(() => resolve())) : undefined
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
