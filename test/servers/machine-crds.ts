// The definitions of KubeVirt, CDI and Multus on a test's own API server. That alone builds nothing: for KubeVirt's own processes see kubevirt.ts.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Access } from './access.ts'
import { request } from './request.ts'
import { eventually } from './eventually.ts'

const folder = join(import.meta.dirname, '../../shared/local/crds')

export interface Crd {
  metadata: { name: string }
  spec: { group: string; names: { plural: string }; versions: Array<{ name: string }> }
}

export async function applyCrd(api: Access, crd: Crd): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}?fieldManager=test&force=true`
  const { status, body } = await request(api, 'PATCH', path, crd, { 'content-type': 'application/apply-patch+yaml' })
  if (status >= 300) throw new Error(`${crd.metadata.name} was refused: ${JSON.stringify(body)}`)
}

/** A kind is served some 100 ms after its definition was taken. */
export async function served(api: Access, { spec: { group, versions, names } }: Crd): Promise<void> {
  const path = `/apis/${group}/${versions[0]?.name}/${names.plural}`
  await eventually(`${names.plural} to be served`, async () => (await request(api, 'GET', path)).status === 200, 60_000)
}

export async function installMachineCrds(api: Access): Promise<void> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.json'))
  const crds = await Promise.all(files.map(async name => JSON.parse(await readFile(join(folder, name), 'utf8')) as Crd))
  await Promise.all(crds.map(crd => applyCrd(api, crd)))
  await Promise.all(crds.map(crd => served(api, crd)))
}
