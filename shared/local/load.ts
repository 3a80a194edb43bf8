// What the platform runs is found in the folders of the product: functions, wiring and kinds are the production ones.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { loadAll } from 'js-yaml' // a third of the start would be reading with the other one
import type { Agent } from '../runtime/agent.ts'
import type { DroverFunction } from '../runtime/function.ts'
import type { Manifest } from './broker/index.ts'

const root = join(import.meta.dirname, '..', '..')

/** The YAML documents of a folder, as seen from the repository. */
export async function loadDocuments(folder: string): Promise<Manifest[]> {
  const path = resolve(root, folder)
  const names = (await readdir(path)).filter(name => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  const files = await Promise.all(
    names.sort().map(async name => ({ file: join(folder, name), text: await readFile(join(path, name), 'utf8') }))
  )
  return files.flatMap(({ file, text }) => parse(file, text).flatMap(doc => (doc == null ? [] : [{ file, doc }])))
}

function parse(file: string, text: string): unknown[] {
  try {
    return loadAll(text)
  } catch (err) {
    throw new Error(`${file} is not YAML: ${(err as Error).message.split('\n')[0]}`, { cause: err })
  }
}

/** The kinds of KubeVirt, CDI and Multus. As JSON, since half a megabyte of YAML takes half a second to read. */
export async function loadForeignCrds(): Promise<object[]> {
  const folder = join(import.meta.dirname, 'crds')
  const names = (await readdir(folder)).filter(name => name.endsWith('.json'))
  return Promise.all(names.map(async name => JSON.parse(await readFile(join(folder, name), 'utf8')) as object))
}

export interface Loaded {
  functions: DroverFunction[]
  /** Functions that cannot be loaded, and why. */
  broken: Array<{ name: string; err: unknown }>
}

/** Each folder of functions/ with a handler, or those that were asked for. */
export async function loadFunctions(wanted?: readonly string[]): Promise<Loaded> {
  const handlerOf = (name: string): string => join(root, 'functions', name, 'handler.ts')
  const known = (await readdir(join(root, 'functions'))).filter(name => existsSync(handlerOf(name))).sort()
  const unknown = wanted?.filter(name => !known.includes(name)) ?? []
  if (unknown.length > 0) throw new Error(`there is no function ${unknown.join(', ')}; there are ${known.join(', ')}`)
  const loaded: Loaded = { functions: [], broken: [] }
  await Promise.all(
    (wanted ?? known).map(async name => {
      try {
        const module = (await import(handlerOf(name))) as { default: DroverFunction }
        loaded.functions.push(module.default)
      } catch (err) {
        loaded.broken.push({ name, err })
      }
    })
  )
  loaded.functions.sort((a, b) => (a.name < b.name ? -1 : 1))
  return loaded
}

export async function loadClusterAgent(): Promise<Agent> {
  const { clusterAgent } = (await import(join(root, 'agents', 'cluster', 'agent.ts'))) as { clusterAgent: Agent }
  return clusterAgent
}

/** Those that run on every hypervisor; `ovsTimings` in place of those that the OVS agent is shipped with. */
export async function loadNodeAgents(ovsTimings: Record<string, number>): Promise<{ hypervisor: Agent; ovs: Agent }> {
  const [{ hypervisorAgent }, { makeOvsAgent }] = (await Promise.all([
    import(join(root, 'agents', 'hypervisor', 'agent.ts')),
    import(join(root, 'agents', 'ovs', 'agent.ts'))
  ])) as [{ hypervisorAgent: Agent }, { makeOvsAgent: (timings: Record<string, number>) => Agent }]
  return { hypervisor: hypervisorAgent, ovs: makeOvsAgent(ovsTimings) }
}
