// `drover sim`: things to do to the simulated fleet of `npm start`. What there is to do, the fleet itself says.
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  simulatorFileOf,
  type Done,
  type ShownAction,
  type ShownArgument,
  type ShownFleet,
  type SimulatorAddress
} from '../runtime/simulator.ts'
import { told, Trouble, type ClusterOptions } from './cluster.ts'
import { hint } from './nearest.ts'
import { asData, say, table, type Format } from './output.ts'

interface Options extends ClusterOptions {
  output: Format
}

export const sim = (name: string | undefined, given: readonly string[], options: Options): Promise<number> =>
  told('sim', async () => {
    const door = await openDoor(options.kubeconfig)
    if (name === 'fleet') return showFleet(await door<ShownFleet>('GET', '/fleet'), options.output)
    const { actions } = await door<{ actions: ShownAction[] }>('GET', '/actions')
    if (name === undefined) return showActions(actions, options.output)
    const action = actions.find(known => known.name === name)
    if (!action) {
      const names = actions.map(known => known.name)
      throw new Trouble(`there is no ${name} to do; ${hint(name, names, '`drover sim` lists what there is')}`)
    }
    const done = await door<Done>('POST', `/actions/${name}`, argumentsOf(action, given))
    say(asData(options.output, done) ?? done.did ?? 'done')
    return 0
  })

/** Actions of the fleet that a kubeconfig belongs to; empty where there is none. For the completion. */
export async function actionNames(kubeconfig: string | undefined): Promise<string[]> {
  const door = await openDoor(kubeconfig)
  return (await door<{ actions: ShownAction[] }>('GET', '/actions')).actions.map(({ name }) => name)
}

type Door = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>

async function openDoor(kubeconfig?: string): Promise<Door> {
  const file = simulatorFileOf(kubeconfig || join(homedir(), '.kube', 'config'))
  const { url, token } = await readFile(file, 'utf8').then(
    text => JSON.parse(text) as SimulatorAddress,
    () => {
      throw new Trouble(
        `there is no simulated fleet: ${file} cannot be read; \`npm start\` makes one and prints the KUBECONFIG to export`
      )
    }
  )
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(60_000)
    const answer = await fetch(url + path, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) }).catch(() => {
      throw new Trouble(`the simulated fleet at ${url} does not answer: is \`npm start\` still running?`)
    })
    const said = (await answer.json()) as T & Done
    if (!answer.ok) throw new Trouble(said.error ?? `the simulated fleet answered ${answer.status}`)
    return said
  }
}

/** By place, or as NAME=VALUE. */
function argumentsOf({ name, args }: ShownAction, given: readonly string[]): Record<string, string | number> {
  const values: Record<string, string | number> = {}
  const left = [...args]
  for (const text of given) {
    const [, key, value] = /^([a-z][\w-]*)=(.*)$/i.exec(text) ?? []
    const argument = key === undefined ? left.shift() : args.find(known => known.name === key)
    if (!argument) throw new Trouble(`${name} takes ${usage(args) || 'nothing'}, not ${text}`)
    if (key !== undefined) left.splice(left.indexOf(argument), left.includes(argument) ? 1 : 0)
    values[argument.name] = valueOf(argument, value ?? text)
  }
  const missing = args.find(({ name: needed, required }) => required && values[needed] === undefined)
  if (missing) throw new Trouble(`${name} needs ${missing.name}, the ${missing.means}: drover sim ${name} ${usage(args)}`)
  return values
}

function valueOf({ name, type, oneOf }: ShownArgument, text: string): string | number {
  if (oneOf && !oneOf.includes(text)) throw new Trouble(`${name} is ${oneOf.join(' or ')}, not ${text}`)
  if (type === 'string') return text
  if (text.trim() === '' || Number.isNaN(Number(text))) throw new Trouble(`${name} is a number, not ${text}`)
  return Number(text)
}

const usage = (args: readonly ShownArgument[]): string =>
  args.map(({ name, required }) => (required ? name.toUpperCase() : `[${name}=…]`)).join(' ')

function showActions(actions: readonly ShownAction[], output: Format): number {
  const rows = actions.map(({ name, args, does }) => [name, usage(args), does])
  say(asData(output, actions) ?? table(['ACTION', 'ARGUMENTS', ''], rows))
  return 0
}

function showFleet(fleet: ShownFleet, output: Format): number {
  const wide = output === 'wide'
  const rows = fleet.hosts.map(({ name, zone, block, power, libvirt, agents, links, vms }) => [
    name,
    zone,
    block,
    power,
    libvirt,
    `${agents.hypervisor}/${agents.ovs}`,
    links.map(link => `${link.name}${link.up ? '' : ' DOWN'}`).join(' '),
    String(vms.length),
    ...(wide ? [vms.map(vm => `${vm.name}${vm.state === 'running' ? '' : ` (${vm.state})`}`).join(' ')] : [])
  ])
  const head = ['HOST', 'ZONE', 'BLOCK', 'POWER', 'LIBVIRT', 'AGENTS', 'LINKS', 'VMS', ...(wide ? [''] : [])]
  const open = fleet.undo.map(({ name, args }) => `drover sim ${[name, ...Object.values(args)].join(' ')}`)
  const undo = open.length === 0 ? '' : `\nTo undo what was done:\n${open.map(line => `  ${line}`).join('\n')}`
  say(asData(output, fleet) ?? `${table(head, rows)}\n\nNova is ${fleet.nova}, seed ${fleet.seed}.${undo}`)
  return 0
}
