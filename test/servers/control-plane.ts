import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { makeAuthority, makeCertificate, makeSigningKey } from './certificates.ts'
import type { Answer, Command } from './guard.ts'

export type Part = 'etcd' | 'kube-apiserver' | 'kube-controller-manager'

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

export interface ControlPlane extends Access {
  up: () => Promise<void>
  kill: (part: Part) => Promise<void>
  stop: () => Promise<void>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const users = {
  admin: 'admin,admin,"system:masters"',
  kcm: 'system:kube-controller-manager,kcm',
  dev: 'dev,dev,"devs"'
}

async function writeAccess(folder: string, server: string): Promise<Record<keyof typeof users, string>> {
  const ca = (await readFile(join(folder, 'ca.crt'))).toString('base64')
  const tokens = {} as Record<keyof typeof users, string>
  let table = ''
  for (const [name, rest] of Object.entries(users) as Array<[keyof typeof users, string]>) {
    const token = (tokens[name] = randomBytes(16).toString('hex'))
    table += `${token},${rest}\n`
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': ca } }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c'
    }
    await writeFile(join(folder, `${name}.kubeconfig`), JSON.stringify(config), { mode: 0o600 })
  }
  await writeFile(join(folder, 'tokens.csv'), table, { mode: 0o600 })
  return tokens
}

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

function answers(url: string, ca: Buffer, token: string): Promise<boolean> {
  return new Promise(resolve => {
    const call = request(url, { ca, headers: { authorization: `Bearer ${token}` }, timeout: 2000 }, response => {
      response.resume().on('end', () => resolve(response.statusCode === 200))
    })
    call.on('error', () => resolve(false)).on('timeout', () => call.destroy())
    call.end()
  })
}

async function until(what: string, log: string, test: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000
  while (!(await test())) {
    if (Date.now() > deadline) throw new Error(`${what} is not ready after 120 s:\n${(await readFile(log, 'utf8')).slice(-2000)}`)
    await delay(20)
  }
}

/** etcd, API server and controller manager on loopback, in a folder of their own, children of a guard that outlives nobody. */
export async function startControlPlane(bin: string): Promise<ControlPlane> {
  const folder = await mkdtemp(join(tmpdir(), 'dk-')) // short: a unix socket path ends at 108 bytes
  const guard = spawn(process.execPath, [join(import.meta.dirname, 'guard.ts'), folder], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const running = new Set<string>()
  const waiting = new Map<string, () => void>()
  createInterface(guard.stdout).on('line', line => {
    const answer = JSON.parse(line) as Answer
    if ('started' in answer) running.add(answer.started)
    else running.delete(answer.exited)
    waiting.get(JSON.stringify('started' in answer ? ['started', answer.started] : ['exited', answer.exited]))?.()
  })
  const send = (command: Command, verb: 'started' | 'exited', part: Part) =>
    new Promise<void>(resolve => {
      waiting.set(JSON.stringify([verb, part]), resolve)
      guard.stdin.write(`${JSON.stringify(command)}\n`)
    })

  await mkdir(join(folder, 'log'))
  const authority = await makeAuthority(folder)
  const loopback = [{ type: 'ip', value: '127.0.0.1' } as const, { type: 'dns', value: 'localhost' } as const]
  await makeCertificate(authority, folder, 'apiserver', loopback)
  await makeCertificate(authority, folder, 'webhook', loopback)
  await makeSigningKey(folder)
  await writeFile(join(folder, 'audit.json'), JSON.stringify(auditPolicy))
  const port = await freePort()
  const server = `https://127.0.0.1:${port}`
  const tokens = await writeAccess(folder, server)
  const ca = await readFile(join(folder, 'ca.crt'))
  const command = commands(bin, folder, port)
  const log = (part: Part) => join(folder, 'log', `${part}.log`)
  const start = (part: Part) =>
    running.has(part) ? Promise.resolve() : send({ start: part, command: command[part], log: log(part) }, 'started', part)

  const up = async () => {
    await start('etcd')
    const socket = () =>
      access(join(folder, 'etcd.sock')).then(
        () => true,
        () => false
      )
    await until('etcd', log('etcd'), socket) // an API server that finds no etcd waits a whole second
    await start('kube-apiserver')
    await until('kube-apiserver', log('kube-apiserver'), () => answers(`${server}/readyz`, ca, tokens.admin))
    await start('kube-controller-manager') // not before: it ends by itself when the API server is not healthy within 10 s
    const account = `${server}/api/v1/namespaces/default/serviceaccounts/default`
    await until('kube-controller-manager', log('kube-controller-manager'), () => answers(account, ca, tokens.admin))
  }
  const stop = async () => {
    if (guard.exitCode !== null) return
    guard.stdin.end()
    await once(guard, 'exit')
  }
  const plane = {
    kubeconfig: join(folder, 'admin.kubeconfig'),
    server,
    ca: join(folder, 'ca.crt'),
    adminToken: tokens.admin,
    devToken: tokens.dev,
    webhookCert: join(folder, 'webhook.crt'),
    webhookKey: join(folder, 'webhook.key'),
    auditLog: join(folder, 'audit.log'),
    up,
    stop,
    kill: (part: Part) => (running.has(part) ? send({ kill: part, signal: 'SIGKILL' }, 'exited', part) : Promise.resolve())
  }
  try {
    await up()
  } catch (err) {
    await stop()
    throw err
  }
  return plane
}
