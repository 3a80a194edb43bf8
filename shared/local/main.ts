// `npm start`
import { resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import closeWithGrace from 'close-with-grace'
import { logFormats, logLines, type LogFormat } from './lines.ts'
import type { SimulatedFleet } from './fleet/index.ts'
import { defaultWishes, type FleetWishes } from './fleet/plan.ts'
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
  --functions a,b      only these functions
  --knative DIR        wiring in place of knative/
  --log brief|text|json  what functions did (default), a readable line for each event, or the logs as they are in a cluster
  --help               this text`

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
  functions: { type: 'string' },
  knative: { type: 'string' },
  'os-cloud': { type: 'string' },
  log: { type: 'string', default: 'brief' },
  help: { type: 'boolean', default: false }
} satisfies ParseArgsConfig['options']

// Whoever read the lines is gone, and with them the reason to go on.
process.stdout.on('error', () => process.exit(0))

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** What to do about it, where that is known. */
const advice: Record<string, string> = {
  EADDRINUSE: 'choose another port with --port, or leave it out for a free one',
  EACCES: 'a port below 1024 needs root: choose a higher one with --port'
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

function platformOptions({
  kubeconfig,
  state,
  port,
  functions,
  knative,
  log,
  'os-cloud': osCloud
}: ReturnType<typeof parse>): PlatformOptions {
  if (!isFormat(log)) throw new Error(`--log is ${logFormats.join(', ')}; not ${log}`)
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw new Error(`--port is a number, not ${port}`)
  return {
    logs: logLines(log, text => process.stdout.write(text)),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(state !== undefined && { state }),
    ...(port !== undefined && { port: Number(port) }),
    ...(functions !== undefined && { functions: functions.split(',') }),
    ...(knative !== undefined && { knative: resolve(knative) }),
    ...(osCloud !== undefined && { osCloud })
  }
}

function introduce({ apiUrl, kubeconfig, cloud, broker, functions, doors }: LocalPlatform): void {
  const ready = broker.triggers.filter(({ reason }) => reason === undefined)
  const idle = broker.triggers.length - ready.length
  say(`Drover is ready after ${(performance.now() / 1000).toFixed(1)} s`)
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
  say(`\n  export KUBECONFIG=${kubeconfig}\n  kubectl get hypervisors\n`)
}

function introduceFleet({ fleet: { wishes, hosts, cloud } }: SimulatedFleet): void {
  const servers = cloud.world.instances.size
  const zones = new Set(Array.from(hosts.values(), ({ plan }) => plan.zone)).size
  const after = (performance.now() / 1000).toFixed(1)
  say(`  fleet           ${hosts.size} hosts in ${zones} zones with ${servers} servers (seed ${wishes.seed}) after ${after} s`)
  say(`                  npx drover sim        # what can be done to it\n`)
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
  const platform = await startPlatform(wanted)
  closeWithGrace({ delay: 10_000 }, async ({ err }) => {
    if (err) process.stderr.write(`npm start: ${err.stack}\n`)
    await platform.close()
  })
  introduce(platform)
  const simulated = await platform.fleet
  if (simulated) introduceFleet(simulated)
  if (simulated && scenario) {
    const { playScenario } = await import('./fleet/scenario.ts')
    say(`  scenario        ${[scenario.title, scenario.see].filter(Boolean).join('. ')}\n`)
    playScenario(simulated.fleet, scenario, line =>
      say(`${simulated.fleet.now().toISOString().slice(11, 23)}  ${'scenario'.padEnd(14)}  ${line}`)
    )
  }
} catch (err) {
  fail(err)
}
