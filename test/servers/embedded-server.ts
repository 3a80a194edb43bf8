// Drover's own embedded Kubernetes API as a server of tests: reached, killed and started again like the real one. It has no etcd and no controller manager.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { selfSigned, type Certificate } from '../../shared/runtime/self-signed.ts'
import { accessIn, users, writeAccess, type ControlPlane, type Part, type Tokens } from './access.ts'
import { answers, guarded } from './guarded.ts'
import { kubernetesServer } from './kubernetes-server.ts'
import { freePort } from './port.ts'

const program = join(import.meta.dirname, 'embedded-api.ts')

async function startEmbeddedPlane(): Promise<ControlPlane> {
  const { folder, start, kill, until, stop } = await guarded<'kube-apiserver'>()
  // certificates that are their own authorities: `ca.crt` is both of them
  const [api, webhook] = [certificateFor('drover-test-api'), certificateFor('drover-test-webhook')]
  const ca = api.certificate + webhook.certificate
  const files = {
    'ca.crt': ca,
    'apiserver.crt': api.certificate,
    'apiserver.key': api.key,
    'webhook.crt': webhook.certificate,
    'webhook.key': webhook.key,
    'audit.log': ''
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 })
  const port = await freePort()
  const server = `https://127.0.0.1:${port}`
  const tokens = await writeAccess(folder, server, ca)
  await writeFile(join(folder, 'users.json'), JSON.stringify(usersByToken(tokens)), { mode: 0o600 })
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
    await until('kube-apiserver', () => answers(`${server}/readyz`, ca, tokens.admin))
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

const certificateFor = (commonName: string): Certificate =>
  selfSigned({ commonName, names: ['127.0.0.1', 'localhost'], days: 30 }, new Date())

const usersByToken = (tokens: Tokens): Record<string, object> =>
  Object.fromEntries(
    Object.entries(users).map(([name, { username, groups }]) => [
      tokens[name as keyof Tokens],
      { username, uid: name, groups: [...groups, 'system:authenticated'] }
    ])
  )

export const embeddedServer = kubernetesServer('DROVER_EMBEDDED_KUBERNETES', startEmbeddedPlane)
