// The parts of a node, compiled from the same modules as the control plane. A build of their own, so that suites without a node do not wait.
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from '../cache.ts'
import { findGo } from '../go.ts'
import { compile, goMod, version } from '../kubernetes-build.ts'
import { say } from '../say.ts'

const coreDns = 'v1.14.1' // the newest that leaves alone the versions that Kubernetes chose for its dependencies
const parts = ['kube-scheduler', 'kube-proxy', 'kubelet']
export const nodeFolder = cacheFolder(`kubernetes-${version}-node`)

/** Scheduler, proxy and kubelet as one binary, CoreDNS, and the first process of a pod. */
export async function buildNode(): Promise<string> {
  const built = await readFile(join(nodeFolder, 'version'), 'utf8').catch(() => '')
  if (built === version + coreDns) return nodeFolder
  const go = await findGo()
  say(`compiling the node of Kubernetes ${version} once into ${nodeFolder} (about 2 minutes after the control plane)`)
  await mkdir(cacheFolder(), { recursive: true })
  const folder = await mkdtemp(`${nodeFolder}-`)
  try {
    const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', GOWORK: 'off', CGO_ENABLED: '0' }
    await writeFile(join(folder, 'go.mod'), 'module drover.test/kube\n')
    await writeFile(join(folder, 'go.mod'), `${await goMod(go, folder, env)}require github.com/coredns/coredns ${coreDns}\n`)
    for (const source of ['node', 'dns', 'pause'])
      await cp(join(import.meta.dirname, source), join(folder, 'src', source), { recursive: true })
    const packages = ['./src/node', './src/dns', './src/pause']
    await compile(go, folder, env, { what: 'node', output: './', packages })
    for (const part of parts) await symlink('node', join(folder, part))
    await writeFile(join(folder, 'version'), version + coreDns)
    await rm(nodeFolder, { recursive: true, force: true })
    await rename(folder, nodeFolder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return nodeFolder
}
