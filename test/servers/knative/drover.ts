// Drover on the cluster, as README tells a user: the image, `kubectl apply -k crds/`, a Secret, `kubectl apply -k knative/`.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { say } from '../say.ts'
import type { Cluster } from './cluster.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..', '..')

/** `npm run image`, on the node under the name that the manifests have. */
export async function loadImage(cluster: Cluster): Promise<void> {
  const file = join(cluster.folder, 'drover.tar')
  await run(process.execPath, ['--conditions=drover', join(root, 'shared/image/main.ts'), '--to', file])
  await cluster.importImage(file)
}

/** No OpenStack is beside this cluster: to the functions it is one that does not answer. */
const openstack = {
  osAuthUrl: 'http://127.0.0.1:1/v3',
  osUsername: 'drover',
  osPassword: 'none',
  osProjectName: 'service',
  osUserDomainName: 'Default',
  osProjectDomainName: 'Default',
  osRegionName: 'RegionOne'
}

export async function installDrover(cluster: Cluster, overlay = join(root, 'knative')): Promise<void> {
  const started = Date.now()
  await cluster.kubectl(['apply', '-k', join(root, 'crds')])
  await cluster.kubectl(['apply', '-k', join(root, 'knative/namespaces')])
  const drover = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'drover' } }
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(drover))
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'openstack', namespace: 'drover' }, stringData: openstack }
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(secret))
  await cluster.kubectl(['apply', '-k', overlay])
  say(`Drover is applied after ${Math.round((Date.now() - started) / 1000)} s`)
}
