// A real dbus-daemon with stand-ins for systemd, logind, hostnamed and polkit that behave; everything ends with the test, or with its process
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually } from './eventually.ts'
import { install } from './install.ts'
import type { Prepared } from './say.ts'

const python = '/usr/bin/python3' // Debian's own: the bindings come from its packages

export async function prepare(): Promise<Prepared> {
  if (process.platform !== 'linux') return { ok: false, reason: 'the system bus is one of Linux' }
  return install(
    ['dbus', 'python3-dbus', 'python3-gi', 'systemd'],
    [
      '/usr/bin/dbus-daemon',
      '/usr/lib/python3/dist-packages/dbus/__init__.py',
      '/usr/lib/python3/dist-packages/gi/__init__.py',
      '/usr/bin/systemd-inhibit'
    ]
  )
}

interface Teardown {
  teardown(fn: () => unknown): void
}

export interface StandIns {
  started: string[]
  inhibitors: Array<{ what: string; who: string; why: string; mode: string }>
  /** null: nobody asked. Seconds until the last lock was gone, or `forced` when the time was up. */
  down: null | 'coming' | 'forced' | number
  /** What polkit was asked. */
  asked: Array<{ action: string; uid: number }>
}

export interface SystemBus {
  address: string
  unit: (name: string, active: string) => Promise<void>
  /** How later jobs of the unit end; `missing`: there is no such unit; `crashes`: it starts, then fails; `never`: no end. */
  result: (unit: string, result: string) => Promise<void>
  delayMs: (ms: number) => Promise<void>
  shutdown: (coming: boolean) => Promise<void>
  /** What polkit says to every question from now on. */
  polkit: (isAuthorized: boolean) => Promise<void>
  state: () => Promise<StandIns>
  /** The bus itself dies, and comes back with fresh stand-ins. */
  kill: () => Promise<void>
  restart: () => Promise<void>
}

const config = (socket: string) => `<busconfig><type>system</type><listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>
  <policy context="default"><allow user="*"/><allow own="*"/><allow eavesdrop="true"/><allow send_destination="*" eavesdrop="true"/><allow receive_sender="*"/></policy></busconfig>`

export async function startBus(t: Teardown): Promise<SystemBus> {
  const dir = await mkdtemp(join(tmpdir(), 'b-'))
  const socket = join(dir, 'bus')
  const address = `unix:path=${socket}`
  await writeFile(join(dir, 'bus.conf'), config(socket))
  let children: ChildProcess[] = []
  const answers: string[] = []

  async function up(): Promise<void> {
    const daemon = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', 'dbus-daemon', `--config-file=${join(dir, 'bus.conf')}`, '--nofork', '--print-address'],
      {
        stdio: ['ignore', 'pipe', 'inherit']
      }
    )
    children = [daemon]
    await once(createInterface(daemon.stdout), 'line')
    const stands = spawn(python, [join(import.meta.dirname, 'dbus', 'stand-ins.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: address }
    })
    children.push(stands)
    answers.length = 0
    createInterface(stands.stdout).on('line', line => answers.push(line))
    await answer()
  }
  const answer = async (): Promise<unknown> =>
    JSON.parse(await eventually('an answer of the stand-ins', async () => answers.shift()))
  async function ask(...command: unknown[]): Promise<unknown> {
    children[1]?.stdin?.write(`${JSON.stringify(command)}\n`)
    return answer()
  }
  async function down(): Promise<void> {
    for (const child of children.splice(0).reverse()) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    await rm(socket, { force: true })
  }
  t.teardown(async () => {
    await down()
    await rm(dir, { recursive: true, force: true })
  })
  await up()
  return {
    address,
    unit: async (name, active) => void (await ask('unit', name, active)),
    result: async (unit, result) => void (await ask('result', unit, result)),
    delayMs: async ms => void (await ask('delay', ms)),
    shutdown: async coming => void (await ask('shutdown', coming)),
    polkit: async isAuthorized => void (await ask('polkit', isAuthorized)),
    state: async () => (await ask('state')) as StandIns,
    kill: down,
    restart: up
  }
}
