// `npm start`
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import closeWithGrace from 'close-with-grace'
import { logFormats, logLines, type LogFormat } from './lines.ts'
import type { SimulatedFleet } from './fleet/index.ts'
import { defaultWishes, type FleetWishes } from './fleet/plan.ts'
import type { Scenario } from './fleet/scenario.ts'
import type { LocalPlatform, PlatformOptions } from './platform.ts'

const help = `npm start -- [options]

Runs every function of Drover in one process, wired by knative/ as it is, on an embedded Kubernetes API and a simulated fleet under
the agents as they are shipped. No root, no cluster.

  --hosts N            hosts of the simulated fleet (default 12); --zones N (default 3), --vms N on each host (default 5)
  --seed N             another fleet, another history; the same seed gives the same (default 1)
  --scenario FILE      play a list of things that happen to the fleet; a name without a slash is one of those that come along
  --empty              no fleet
  --demo               the default fleet, for those who remember this word
  --kubeconfig FILE    work on a real cluster in place of the embedded API (install crds/ there first)
  --os-cloud NAME      work on a real OpenStack in place of the embedded one: a name of clouds.yaml, or env for OS_*
  --state FILE         keep objects and events over restarts in this file (SQLite)
  --port N             port of the embedded API (default: a free one)
  --page-port N        port of the fleet page (default: 4177, or a free one where that is taken)
  --functions a,b      only these functions
  --knative DIR        wiring in place of knative/
  --log brief|text|json  what functions did (default), a readable line for each event, or the logs as they are in a cluster
  --help               this text

How faults are reacted to is in the ConfigMap ha-policy, as in a cluster: kubectl -n drover edit configmap ha-policy (functions/ha/README.md)`

const options = {
  demo: { type: 'boolean', default: false },
  empty: { type: 'boolean', default: false },
  hosts: { type: 'string' },
  zones: { type: 'string' },
  vms: { type: 'string' },
  seed: { type: 'string' },
  scenario: { type: 'string' },
  kubeconfig: { type: 'string' },
  state: { type: 'string' },
  port: { type: 'string' },
  'page-port': { type: 'string' },
  functions: { type: 'string' },
  knative: { type: 'string' },
  'os-cloud': { type: 'string' },
  log: { type: 'string', default: 'brief' },
  help: { type: 'boolean', default: false }
} satisfies ParseArgsConfig['options']

// Whoever read the lines is gone, and with them the reason to go on.
process.stdout.once('error', () => {
  process.stdout.on('error', () => {})
  process.kill(process.pid, 'SIGTERM')
})

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** What to do about it, where that is known. */
const advice: Record<string, string> = {
  EADDRINUSE: 'choose another port with --port or --page-port, or leave it out for a free one',
  EACCES: 'a port below 1024 needs root: choose a higher one with --port or --page-port'
}

function fail(err: unknown): never {
  const { message, code = '' } = err as Error & { code?: string }
  process.stderr.write(`npm start: ${message}${advice[code] ? `: ${advice[code]}` : ''}\n`)
  process.exit(1)
}

const isFormat = (log: string): log is LogFormat => logFormats.some(format => format === log)

const limits = { hosts: [1, 1000], zones: [1, 100], vms: [0, 200], seed: [0, 2 ** 32 - 1] } as const

/** Where nothing is simulated there is no fleet: a real cluster, a real OpenStack. */
function fleetOptions(values: ReturnType<typeof parse>): { fleet?: FleetWishes } {
  const { empty, demo, kubeconfig, 'os-cloud': osCloud } = values
  const wished = ['hosts', 'zones', 'vms', 'seed', 'scenario'].filter(name => values[name as keyof typeof values] !== undefined)
  if (demo) wished.push('demo')
  const without = empty ? '--empty' : kubeconfig !== undefined ? '--kubeconfig' : osCloud !== undefined ? '--os-cloud' : undefined
  if (without === undefined) return { fleet: { ...defaultWishes, ...numbers(values) } }
  if (wished.length > 0) throw new Error(`--${wished[0]} is of the simulated fleet, which there is none of with ${without}`)
  return {}
}

function numbers(values: ReturnType<typeof parse>): Partial<FleetWishes> {
  const names = ['hosts', 'zones', 'vms', 'seed'] as const
  return Object.fromEntries(
    names.flatMap(name => {
      const [text, [min, max]] = [values[name], limits[name]]
      if (text === undefined) return []
      const number = Number(text)
      if (/^\d+$/.test(text) && number >= min && number <= max) return [[name, number]]
      throw new Error(`--${name} is a number from ${min} to ${max}, not ${text}`)
    })
  )
}

function portOf(name: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Error(`--${name} is a number from 0 to 65535, not ${text}`)
}

function platformOptions({
  kubeconfig,
  state,
  port,
  functions,
  knative,
  log,
  'page-port': pagePort,
  'os-cloud': osCloud
}: ReturnType<typeof parse>): PlatformOptions {
  if (!isFormat(log)) throw new Error(`--log is ${logFormats.join(', ')}; not ${log}`)
  return {
    logs: logLines(log, text => process.stdout.write(text)),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(state !== undefined && { state }),
    ...(port !== undefined && { port: portOf('port', port) }),
    ...(pagePort !== undefined && { pagePort: portOf('page-port', pagePort) }),
    ...(functions !== undefined && { functions: functions.split(',') }),
    ...(knative !== undefined && { knative: resolve(knative) }),
    ...(osCloud !== undefined && { osCloud })
  }
}

function introduce({ apiUrl, kubeconfig, cloud, broker, functions, doors }: LocalPlatform): void {
  const ready = broker.triggers.filter(({ reason }) => reason === undefined)
  const idle = broker.triggers.length - ready.length
  say(`Drover is ready ${after()}`)
  say(`  Kubernetes API  ${apiUrl ?? 'as the kubeconfig says'}`)
  say(`  OpenStack       ${cloud}`)
  say(`  broker          ${broker.ingress('drover', 'default')}`)
  say(`  dead letters    ${new URL('/-/dead-letters', broker.ingress('drover', 'default')).href}`)
  say(`  functions       ${functions.join(', ')}`)
  say(`  triggers        ${ready.length} wired${idle > 0 ? `, ${idle} without a function here` : ''}`)
  for (const [name, { url, paths }] of doors) {
    const shown = paths.includes('/') ? [url] : paths.map(path => url + path) // the rest is for the page itself
    say(`  ${name.padEnd(15)} ${shown.join(', ')}`)
  }
  say(`\n  export KUBECONFIG=${kubeconfig}\n  npx drover get        # or kubectl get hypervisors\n`)
}

const after = (): string => `after ${(performance.now() / 1000).toFixed(1)} s`

async function introduceFleet({ fleet }: SimulatedFleet, page: string | undefined): Promise<void> {
  const { wishes, hosts, cloud, arrived } = fleet
  const servers = cloud.world.instances.size
  const zones = new Set(Array.from(hosts.values(), ({ plan }) => plan.zone)).size
  say(`  fleet           ${hosts.size} hosts in ${zones} zones with ${servers} servers (seed ${wishes.seed}) ${after()}`)
  say(`                  npx drover sim        # what can be done to it`)
  if (arrived < hosts.size) say(`                  ${arrived} of them are in, the others follow a dozen at a time`)
  if (page !== undefined) {
    await shows(page, [...hosts.values()].find(host => fleet.hasArrived(host))?.name ?? '')
    say(`\nThe page lives ${after()}: ${page}\n`)
  }
  if (arrived < hosts.size) void fleet.complete.then(() => say(`\nAll ${fleet.arrived} hosts are in the fleet ${after()}\n`))
}

/** What a person waits for: the first host is on the page. */
async function shows(page: string, host: string): Promise<void> {
  while (!(await fetch(`${page}/api/hosts/${host}`)).ok) await sleep(20)
}

async function play({ fleet }: SimulatedFleet, scenario: Scenario): Promise<void> {
  if (fleet.arrived < fleet.hosts.size) say('  scenario        begins when all hosts are in\n')
  await fleet.complete
  say(`  scenario        ${[scenario.title, scenario.see].filter(Boolean).join('. ')}\n`)
  const { playScenario } = await import('./fleet/scenario.ts')
  playScenario(fleet, scenario, line => say(`${fleet.now().toISOString().slice(11, 23)}  ${'scenario'.padEnd(14)}  ${line}`))
}

const parse = () => parseArgs({ options, allowPositionals: false }).values

try {
  const values = parse()
  if (values.help) {
    say(help)
    process.exit(0)
  }
  const wanted = { ...platformOptions(values), ...fleetOptions(values) }
  const scenario =
    values.scenario === undefined ? undefined : await (await import('./fleet/scenario.ts')).readScenario(values.scenario)
  const { startPlatform } = await import('./platform.ts')
  const starting = startPlatform(wanted)
  // also while it starts: what was begun is taken away again
  closeWithGrace({ delay: 10_000 }, async ({ err }) => {
    if (err) process.stderr.write(`npm start: ${err.stack}\n`)
    await starting.then(
      platform => platform.close(),
      () => {} // told already
    )
  })
  const platform = await starting
  introduce(platform)
  const simulated = await platform.fleet
  if (simulated) await introduceFleet(simulated, platform.doors.get('console')?.url)
  if (simulated && scenario) await play(simulated, scenario)
} catch (err) {
  fail(err)
}
