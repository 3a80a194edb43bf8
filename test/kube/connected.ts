import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { ConnectOptions, Kube } from '../../shared/kube/index.ts'
import { connect } from '../../shared/kube/index.ts'
import type { Cluster } from '../servers/kubernetes.ts'

type Login = { token: string } | { 'auth-provider': { name: 'tokenFile'; config: { tokenFile: string } } }

/** A folder that goes away with the test. */
export async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kube-'))
  t.teardown(() => rm(path, { recursive: true }))
  return path
}

/** A kubeconfig for a server, real (with its CA) or scripted (plain HTTP). */
export async function kubeconfig(t: Test, server: string, user: Login | object, ca?: string): Promise<string> {
  const trust =
    ca === undefined
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': readFileSync(ca).toString('base64') }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, ...trust } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c'
  }
  const path = join(await folder(t), 'kubeconfig')
  await writeFile(path, JSON.stringify(config))
  return path
}

export async function connected(
  t: Test,
  api: Cluster,
  options: Partial<ConnectOptions> & { user?: Login; server?: string } = {}
): Promise<Kube> {
  const { user = { token: api.adminToken }, server = api.server, ...rest } = options
  const kube = await connect({
    manager: 'drover-test',
    kubeconfig: await kubeconfig(t, server, user, api.ca),
    timeoutMs: 60_000,
    ...rest
  })
  t.teardown(() => kube.close())
  return kube
}

/** Waits for a condition that something else brings about; the test's own time limit ends it otherwise. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 10))
}
