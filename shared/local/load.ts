// What the platform runs is found in the folders of the product: functions, wiring and kinds are the production ones.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Agent } from '../runtime/agent.ts'
import type { DroverFunction } from '../runtime/function.ts'
import type { Manifest } from './broker/index.ts'

const root = join(import.meta.dirname, '..', '..')

/** The YAML documents of a folder. */
export async function loadDocuments(folder: string): Promise<Manifest[]> {
  const names = (await readdir(join(root, folder))).filter(name => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  const files = await Promise.all(
    names.sort().map(async name => ({ file: `${folder}/${name}`, text: await readFile(join(root, folder, name), 'utf8') }))
  )
  return files.flatMap(({ file, text }) =>
    parseAllDocuments(text).map(document => {
      const [error] = document.errors
      if (error) throw new Error(`${file} is not YAML: ${error.message}`)
      return { file, doc: document.toJSON() as unknown }
    })
  )
}

/** Each folder of functions/ with a handler, or those that were asked for. */
export async function loadFunctions(wanted?: readonly string[]): Promise<DroverFunction[]> {
  const folders = await readdir(join(root, 'functions'), { withFileTypes: true })
  const known = folders.filter(entry => entry.isDirectory()).map(({ name }) => name)
  const unknown = wanted?.filter(name => !known.includes(name)) ?? []
  if (unknown.length > 0) throw new Error(`there is no function ${unknown.join(', ')}; there are ${known.join(', ')}`)
  const names = wanted ?? known
  const modules = await Promise.all(
    names.map(name => import(join(root, 'functions', name, 'handler.ts')) as Promise<{ default: DroverFunction }>)
  )
  return modules.map(module => module.default)
}

export async function loadClusterAgent(): Promise<Agent> {
  const { clusterAgent } = (await import(join(root, 'agents', 'cluster', 'agent.ts'))) as { clusterAgent: Agent }
  return clusterAgent
}
