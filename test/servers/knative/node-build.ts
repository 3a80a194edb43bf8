// The parts of a node, compiled from the same modules as the control plane. A build of their own, so that suites without a node do not wait.
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from '../cache.ts'
import { builtOnce } from '../go-build.ts'
import { compileKubernetes, version } from '../kubernetes-build.ts'

const parts = ['kube-scheduler', 'kube-proxy', 'kubelet']
export const nodeFolder = cacheFolder(`kubernetes-${version}-node`)
const takes = 'about 2 minutes after the control plane'

/** Scheduler, proxy and kubelet as one binary, CoreDNS, and the first process of a pod. */
export const buildNode = (): Promise<string> =>
  builtOnce({ what: `the node of Kubernetes ${version}`, folder: nodeFolder, stamp: version, takes }, async workshop => {
    await compileKubernetes(workshop, 'node', ['./node', './dns', './pause'])
    for (const part of parts) await symlink('node', join(workshop.folder, part))
  })
