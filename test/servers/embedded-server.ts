// Drover's own embedded Kubernetes API as a server of tests: reached, killed and started again like the real one. It has no etcd and no controller manager.
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { selfSigned } from '../../shared/runtime/self-signed.ts'
import { accessIn, users, writeAccess, type ControlPlane, type Part, type Tokens } from './access.ts'
import { answers, guarded } from './guarded.ts'
import { kubernetesServer } from './kubernetes-server.ts'
import { freePort } from './port.ts'

const program = join(import.meta.dirname, 'embedded-api.ts')

async function startEmbeddedPlane(): Promise<ControlPlane> {
  const { folder, start, kill, until, stop } = await guarded<'kube-apiserver'>()
  // one certificate, its own authority, for the server and for webhooks
  const { certificate, key } = selfSigned({ commonName: 'drover-test', names: ['127.0.0.1', 'localhost'], days: 30 }, new Date())
  await writeFile(join(folder, 'ca.crt'), certificate)
  await writeFile(join(folder, 'ca.key'), key, { mode: 0o600 })
  await copyFile(join(folder, 'ca.crt'), join(folder, 'webhook.crt'))
  await copyFile(join(folder, 'ca.key'), join(folder, 'webhook.key'))
  const port = await freePort()
  const server = `https://127.0.0.1:${port}`
  const tokens = await writeAccess(folder, server, certificate)
  await writeFile(join(folder, 'users.json'), JSON.stringify(usersByToken(tokens)), { mode: 0o600 })
  await writeFile(join(folder, 'audit.log'), '')
  const command = [
    process.execPath,
    '--conditions=drover',
    '--disable-warning=ExperimentalWarning',
    program,
    folder,
    String(port)
  ]
  const up = async () => {
    await start('kube-apiserver', command)
    await until('kube-apiserver', () => answers(`${server}/readyz`, certificate, tokens.admin))
  }
  try {
    await up()
  } catch (err) {
    await stop()
    throw err
  }
  const killPart = async (part: Part): Promise<void> => {
    if (part !== 'kube-apiserver') throw new Error(`the embedded API has no ${part}: import real-kubernetes.ts`)
    await kill(part)
  }
  return { ...accessIn(folder, server, tokens), up, kill: killPart, stop }
}

const usersByToken = (tokens: Tokens): Record<string, object> =>
  Object.fromEntries(
    Object.entries(users).map(([name, { username, groups }]) => [
      tokens[name as keyof Tokens],
      { username, uid: name, groups: [...groups, 'system:authenticated'] }
    ])
  )

export const embeddedServer = kubernetesServer('DROVER_EMBEDDED_KUBERNETES', startEmbeddedPlane)
