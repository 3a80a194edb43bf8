import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { accessIn, users, writeAccess, type ControlPlane, type Part, type Tokens } from './access.ts'
import { makeAuthority, makeCertificate, makeSigningKey } from './certificates.ts'
import { answers, guarded } from './guarded.ts'
import { freePort } from './port.ts'

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', userGroups: ['system:serviceaccounts:kube-system'] }, // the controllers
    { level: 'Metadata', userGroups: ['system:serviceaccounts'] },
    { level: 'None' }
  ]
}

const flags = (values: Record<string, string | number | boolean>): string[] =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`)

function commands(bin: string, folder: string, port: number): Record<Part, string[]> {
  const at = (name: string) => join(folder, name)
  // unix sockets only; the advertised addresses are never dialled. No fsync: a crash of the machine may lose a test's data
  const etcd = flags({
    name: 't',
    'data-dir': at('etcd'),
    'unsafe-no-fsync': true,
    'log-level': 'warn',
    'listen-client-urls': `unix://${at('etcd.sock')}`,
    'advertise-client-urls': 'http://127.0.0.1:2379',
    'listen-peer-urls': `unix://${at('peer.sock')}`,
    'initial-advertise-peer-urls': 'http://127.0.0.1:2380',
    'initial-cluster': 't=http://127.0.0.1:2380'
  })
  const apiServer = flags({
    'etcd-servers': `unix://${at('etcd.sock')}`,
    'bind-address': '127.0.0.1',
    'secure-port': port,
    'tls-cert-file': at('apiserver.crt'),
    'tls-private-key-file': at('apiserver.key'),
    'client-ca-file': at('ca.crt'),
    'token-auth-file': at('tokens.csv'),
    'authorization-mode': 'Node,RBAC',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': at('sa.pub'),
    'service-account-signing-key-file': at('sa.key'),
    'service-cluster-ip-range': '10.96.0.0/20',
    // without a node the `kubernetes` Service stays without endpoints (a loopback advertise address is refused)
    'advertise-address': '192.0.2.1',
    'endpoint-reconciler-type': 'none',
    'audit-policy-file': at('audit.json'),
    'audit-log-path': at('audit.log'),
    profiling: false
  })
  const controllers = flags({
    kubeconfig: at('kcm.kubeconfig'),
    'secure-port': 0,
    'leader-elect': false,
    'use-service-account-credentials': true,
    'service-account-private-key-file': at('sa.key'),
    'root-ca-file': at('ca.crt'),
    // with the default limit of 20 requests a second its start takes 4 s longer
    'kube-api-qps': 1000,
    'kube-api-burst': 2000,
    profiling: false
  })
  return {
    etcd: [join(bin, 'etcd'), ...etcd],
    'kube-apiserver': [join(bin, 'kube-apiserver'), ...apiServer],
    'kube-controller-manager': [join(bin, 'kube-controller-manager'), ...controllers]
  }
}

/** A row for each token: the token, the user's name, its uid, and its groups if it has any. */
const tokenTable = (tokens: Tokens): string =>
  Object.entries(users)
    .map(([name, { username, groups }]) => `${tokens[name as keyof Tokens]},${username},${name}${quoted(groups)}\n`)
    .join('')

const quoted = (groups: string[]): string => (groups.length > 0 ? `,"${groups.join(',')}"` : '')

/** etcd, API server and controller manager on loopback. */
export async function startControlPlane(bin: string): Promise<ControlPlane> {
  const { folder, start, kill, until, stop } = await guarded<Part>()
  const authority = await makeAuthority(folder)
  const loopback = [{ type: 'ip', value: '127.0.0.1' } as const, { type: 'dns', value: 'localhost' } as const]
  await makeCertificate(authority, folder, 'apiserver', loopback)
  await makeCertificate(authority, folder, 'webhook', loopback)
  await makeSigningKey(folder)
  await writeFile(join(folder, 'audit.json'), JSON.stringify(auditPolicy))
  const port = await freePort()
  const server = `https://127.0.0.1:${port}`
  const ca = await readFile(join(folder, 'ca.crt'), 'utf8')
  const tokens = await writeAccess(folder, server, ca)
  await writeFile(join(folder, 'tokens.csv'), tokenTable(tokens), { mode: 0o600 })
  const command = commands(bin, folder, port)
  const up = async () => {
    await start('etcd', command.etcd)
    const socket = () =>
      access(join(folder, 'etcd.sock')).then(
        () => true,
        () => false
      )
    await until('etcd', socket) // an API server that finds no etcd waits a whole second
    await start('kube-apiserver', command['kube-apiserver'])
    await until('kube-apiserver', () => answers(`${server}/readyz`, ca, tokens.admin))
    // not before: it ends by itself when the API server is not healthy within 10 s
    await start('kube-controller-manager', command['kube-controller-manager'])
    const account = `${server}/api/v1/namespaces/default/serviceaccounts/default`
    await until('kube-controller-manager', () => answers(account, ca, tokens.admin))
  }
  try {
    await up()
  } catch (err) {
    await stop()
    throw err
  }
  return { ...accessIn(folder, server, tokens), up, kill, stop }
}
