// The parts of a node, compiled from the same modules as the control plane. A build of their own, so that suites without a node do not wait.
import { cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from '../cache.ts'
import { builtOnce } from '../go-build.ts'
import { compileKubernetes, goMod, version } from '../kubernetes-build.ts'

const coreDns = 'v1.14.1' // the newest that leaves alone the versions that Kubernetes chose for its dependencies
const parts = ['kube-scheduler', 'kube-proxy', 'kubelet']
export const nodeFolder = cacheFolder(`kubernetes-${version}-node`)
const takes = 'about 2 minutes after the control plane'

/** Scheduler, proxy and kubelet as one binary, CoreDNS, and the first process of a pod. */
export const buildNode = (): Promise<string> =>
  builtOnce(
    { what: `the node of Kubernetes ${version}`, folder: nodeFolder, stamp: version + coreDns, takes },
    async workshop => {
      const { folder } = workshop
      await writeFile(join(folder, 'go.mod'), `${await goMod(workshop)}require github.com/coredns/coredns ${coreDns}\n`)
      for (const source of ['node', 'dns', 'pause'])
        await cp(join(import.meta.dirname, source), join(folder, 'src', source), { recursive: true })
      await compileKubernetes(workshop, 'node', './', ['./src/node', './src/dns', './src/pause'])
      for (const part of parts) await symlink('node', join(folder, part))
    }
  )
