// `drover render`: what would be created for a Machine, before anything is.
import { join } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { inWords } from '../rules/rule.ts'
import { withDefaults } from '../schema/defaults.ts'
import { apiVersion, type KubeObject } from '../schema/kind.ts'
import { Machine } from '../schema/machine.ts'
import type { NetworkConfiguration } from '../schema/network-configuration.ts'
import { isRecord } from '../schema/openapi.ts'
import { checkObject } from './check-object.ts'
import { told, Trouble } from './cluster.ts'
import { asData, say, table, type Format } from './output.ts'
import { readObjects, Unreadable, type Found } from './read-objects.ts'
import { networksAmong } from './validate.ts'

interface RenderOptions {
  architecture: 'amd64' | 'arm64'
  macSeed: string
  cniVersion: string
}
interface Options extends RenderOptions {
  output: Format
}

type Preview = (
  machine: Machine,
  networkOf: (name: string) => NetworkConfiguration | undefined,
  secretOf: (name: string) => Record<string, string> | undefined,
  options: RenderOptions & { hasClassDefault: boolean }
) => { objects: KubeObject[]; missing: string[] }

/** The very code that does it in the cluster. By its path, since shared/ knows no function. */
async function loadPreview(): Promise<Preview> {
  const path = join(import.meta.dirname, '..', '..', 'functions', 'machine', 'preview.ts')
  return ((await import(path)) as { preview: Preview }).preview
}

export const render = (files: readonly string[], options: Options): Promise<number> =>
  told('render', async () => {
    const paths = files.length > 0 ? files : process.stdin.isTTY ? [] : ['-']
    if (paths.length === 0) throw new Trouble('name a file with -f, or - for standard input')
    const found = await readObjects(paths, () => readAll(process.stdin)).catch((err: unknown) => {
      throw err instanceof Unreadable ? new Trouble(err.message) : err
    })
    const machines = found.filter(({ object }) => isKind(object, Machine.kind, apiVersion(Machine)))
    if (machines.length === 0) throw new Trouble(`there is no Machine (${apiVersion(Machine)}) in ${paths.join(', ')}`)
    const preview = await loadPreview()
    const rendered = machines.map(machine => renderOne(machine, found, preview, options))
    const missing = [...new Set(rendered.flatMap(one => one.missing))]
    if (missing.length > 0) throw new Trouble(`${missing.join(', ')} is not among the files: name its file too, with another -f`)
    tell(
      rendered.flatMap(({ objects }) => objects),
      options.output
    )
    return 0
  })

const isKind = (object: unknown, kind: string, version: string): boolean =>
  isRecord(object) && object.kind === kind && object.apiVersion === version

function renderOne({ object, file, line }: Found, all: readonly Found[], preview: Preview, options: RenderOptions) {
  const networkOf = networksAmong(all)
  const { violations = [] } = checkObject(object, { enforce: false, network: networkOf }) ?? {}
  if (violations.length > 0) throw new Trouble(`${file}:${line}: would be refused: ${violations.map(inWords).join('; ')}`)
  const given = withDefaults(Machine, object as Machine)
  const { namespace = 'default' } = given.metadata
  const machine = { ...given, metadata: { ...given.metadata, namespace } }
  const { architecture, macSeed, cniVersion } = options
  return preview(
    machine,
    name => {
      const network = networkOf(name, namespace)
      return network.known ? network.value : undefined
    },
    name => secretAmong(all, name, namespace),
    { architecture, macSeed, cniVersion, hasClassDefault: false }
  )
}

/** Data as it is stored: base64 by key. */
function secretAmong(all: readonly Found[], name: string, namespace: string): Record<string, string> | undefined {
  for (const { object } of all) {
    if (!isKind(object, 'Secret', 'v1') || !isRecord(object)) continue
    const { metadata, data, stringData } = object
    if (!isRecord(metadata) || metadata.name !== name || (metadata.namespace ?? 'default') !== namespace) continue
    const plain = Object.entries(isRecord(stringData) ? stringData : {}).map(([key, text]) => [
      key,
      Buffer.from(String(text)).toString('base64')
    ])
    return { ...(isRecord(data) ? (data as Record<string, string>) : {}), ...Object.fromEntries(plain) }
  }
  return undefined
}

/** YAML and JSON as kubectl takes them; text as a list of what there would be. */
function tell(objects: readonly KubeObject[], output: Format): void {
  if (output === 'yaml') say(objects.map(object => asData('yaml', object)).join('\n---\n'))
  else if (output === 'json') say(asData('json', { apiVersion: 'v1', kind: 'List', items: objects }) ?? '')
  else {
    const rows = objects.map(object => {
      const { apiVersion: version, kind, metadata } = object as KubeObject & { apiVersion: string; kind: string }
      return [kind, metadata?.namespace ?? '', metadata?.name ?? '', ...(output === 'wide' ? [version] : [])]
    })
    say(table(['KIND', 'NAMESPACE', 'NAME', ...(output === 'wide' ? ['API'] : [])], rows))
  }
}
