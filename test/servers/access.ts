// Who may speak to a test's API server, and where: the same for the real and for the embedded one.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a test needs to reach the cluster; plain data, so that a runner can hand it to its test processes. */
export interface Access {
  kubeconfig: string
  server: string
  ca: string
  adminToken: string
  devToken: string
  webhookCert: string
  webhookKey: string
  /** Every request of a service account, as JSON lines. */
  auditLog: string
}

export type Part = 'etcd' | 'kube-apiserver' | 'kube-controller-manager'

export interface ControlPlane extends Access {
  up: () => Promise<void>
  kill: (part: Part) => Promise<void>
  stop: () => Promise<void>
}

export const users = {
  admin: { username: 'admin', groups: ['system:masters'] },
  kcm: { username: 'system:kube-controller-manager', groups: [] },
  dev: { username: 'dev', groups: ['devs'] }
}

export type Tokens = Record<keyof typeof users, string>

/** A token and a kubeconfig for each user. */
export async function writeAccess(folder: string, server: string, ca: string): Promise<Tokens> {
  const tokens = {} as Tokens
  for (const name of Object.keys(users) as Array<keyof Tokens>) {
    const token = (tokens[name] = randomBytes(16).toString('hex'))
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c'
    }
    await writeFile(join(folder, `${name}.kubeconfig`), JSON.stringify(config), { mode: 0o600 })
  }
  return tokens
}

export const accessIn = (folder: string, server: string, tokens: Tokens): Access => ({
  kubeconfig: join(folder, 'admin.kubeconfig'),
  server,
  ca: join(folder, 'ca.crt'),
  adminToken: tokens.admin,
  devToken: tokens.dev,
  webhookCert: join(folder, 'webhook.crt'),
  webhookKey: join(folder, 'webhook.key'),
  auditLog: join(folder, 'audit.log')
})
