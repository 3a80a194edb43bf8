import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { type Access, type ControlPlane, startControlPlane } from './control-plane.ts'
import { binFolder, buildKubernetes } from './kubernetes-build.ts'
import { request } from './request.ts'
import type { Prepared } from './say.ts'

const shared = 'DROVER_KUBERNETES' // the runner's API server, handed to its test files
const crds = join(import.meta.dirname, '..', '..', 'crds')

export type Cluster = Access & {
  /** Made for the caller alone. */
  namespace: string
}

export const kubectlPath = (): string => join(binFolder, 'kubectl')

export const compiles = true

export async function prepare(): Promise<Prepared> {
  try {
    await buildKubernetes()
    return { ok: true }
  } catch (err) {
    return { ok: false, reason: `Kubernetes cannot be built: ${(err as Error).message}` }
  }
}

async function installCrds(api: Access): Promise<void> {
  const files = (await readdir(crds)).filter(name => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  for (const file of files) {
    const crd = parse(await readFile(join(crds, file), 'utf8'))
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}?fieldManager=test&force=true`
    const { status, body } = await request(api, 'PATCH', path, crd, { 'content-type': 'application/apply-patch+yaml' })
    if (status >= 300) throw new Error(`${file} was refused: ${JSON.stringify(body)}`)
    const { group, versions, names } = crd.spec
    // a kind is served some 100 ms after its definition was taken
    while ((await request(api, 'GET', `/apis/${group}/${versions[0].name}/${names.plural}`)).status !== 200)
      await new Promise(setImmediate)
  }
}

async function freshNamespace(api: Access): Promise<string> {
  const name = `t-${randomBytes(5).toString('hex')}`
  const { status, body } = await request(api, 'POST', '/api/v1/namespaces', { metadata: { name } })
  if (status !== 201) throw new Error(`no namespace: ${JSON.stringify(body)}`)
  return name
}

/** An API server with Drover's CRDs, for a whole run of tests. */
export async function startKubernetes(): Promise<ControlPlane> {
  const plane = await startControlPlane(await buildKubernetes())
  await installCrds(plane)
  return plane
}

/** One API server between all test files of a run. */
export async function share(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }> {
  const { up: _up, kill: _kill, stop, ...access } = await startKubernetes()
  return { env: { [shared]: JSON.stringify(access) }, stop }
}

/** The run's API server, or one of its own when the file is run alone; a namespace for this file either way. */
export async function kubernetes(t: Test): Promise<Cluster> {
  const given = process.env[shared]
  const api: Access = given === undefined ? await ownKubernetes(t) : JSON.parse(given)
  return { ...api, namespace: await freshNamespace(api) }
}

/** An API server that the test may kill and start again. */
export async function ownKubernetes(t: Test): Promise<ControlPlane & Cluster> {
  const plane = await startKubernetes()
  t.teardown(() => plane.stop())
  return { ...plane, namespace: await freshNamespace(plane) }
}
