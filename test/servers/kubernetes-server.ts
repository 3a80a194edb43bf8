// What a test does with an API server, whichever it is: Drover's kinds on it, and a namespace for each test.
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { loadDocuments } from '../../shared/local/load.ts'
import type { Access, ControlPlane } from './access.ts'
import { applyCrd, served, type Crd } from './machine-crds.ts'
import { request } from './request.ts'

export type Cluster = Access & {
  /** Made for the caller alone. */
  namespace: string
}

export interface KubernetesServer {
  /** An API server with Drover's CRDs, for a whole run of tests. */
  startKubernetes: () => Promise<ControlPlane>
  /** One API server between all test files of a run. */
  share: () => Promise<{ env: Record<string, string>; stop: () => Promise<void> }>
  /** The run's API server, or one of its own when the file is run alone; a namespace for this file either way. */
  kubernetes: (t: Test) => Promise<Cluster>
  /** An API server that the test may kill and start again. */
  ownKubernetes: (t: Test) => Promise<ControlPlane & Cluster>
}

/** `shared`: the environment variable by which the runner hands its API server to its test files. */
export function kubernetesServer(shared: string, start: () => Promise<ControlPlane>): KubernetesServer {
  async function startKubernetes(): Promise<ControlPlane> {
    const plane = await start()
    await installCrds(plane)
    return plane
  }
  async function ownKubernetes(t: Test): Promise<ControlPlane & Cluster> {
    const plane = await startKubernetes()
    t.teardown(() => plane.stop())
    return { ...plane, namespace: await freshNamespace(plane) }
  }
  let running: Promise<ControlPlane> | undefined
  return {
    startKubernetes,
    ownKubernetes,
    async share() {
      const { up: _up, kill: _kill, stop, ...access } = await (running ??= startKubernetes())
      return { env: { [shared]: JSON.stringify(access) }, stop }
    },
    async kubernetes(t) {
      const given = process.env[shared]
      const api: Access = given === undefined ? await ownKubernetes(t) : JSON.parse(given)
      return { ...api, namespace: await freshNamespace(api) }
    }
  }
}

async function installCrds(api: Access): Promise<void> {
  const crds = (await loadDocuments('crds')).map(({ doc }) => doc as Crd)
  await Promise.all(crds.map(crd => applyCrd(api, crd)))
  await Promise.all(crds.map(crd => served(api, crd)))
}

async function freshNamespace(api: Access): Promise<string> {
  const name = `t-${randomBytes(5).toString('hex')}`
  const { status, body } = await request(api, 'POST', '/api/v1/namespaces', { metadata: { name } })
  if (status !== 201) throw new Error(`no namespace: ${JSON.stringify(body)}`)
  return name
}
