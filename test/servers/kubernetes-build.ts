import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from './cache.ts'
import { builtOnce, compile, type Workshop } from './go-build.ts'

export const version = '1.36.3' // as in kubernetes/go.mod
const parts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl']
export const binFolder = cacheFolder(`kubernetes-${version}-control`)

/** Without these /version says v0.0.0-master, and clients that ask for a minimum version refuse the server. */
function linkerFlags(): string {
  const facts = {
    gitVersion: `v${version}`,
    gitMajor: '1',
    gitMinor: version.split('.')[1],
    gitTreeState: 'archive',
    gitCommit: 'unknown'
  }
  const set = Object.entries(facts).flatMap(([key, value]) =>
    ['component-base/version', 'client-go/pkg/version'].map(pkg => `-X k8s.io/${pkg}.${key}=${value}`)
  )
  return ['-s', '-w', ...set].join(' ')
}

export const compileKubernetes = (workshop: Workshop, what: string, packages: string[]): Promise<void> =>
  compile(workshop, { what, module: join(import.meta.dirname, 'kubernetes'), packages, linkerFlags: linkerFlags() })

/** etcd, kube-apiserver, kube-controller-manager and kubectl as one binary. */
export const buildKubernetes = (): Promise<string> =>
  builtOnce(
    { what: `Kubernetes ${version}`, folder: binFolder, stamp: version, takes: 'about 8 minutes on two cores' },
    async workshop => {
      await compileKubernetes(workshop, 'Kubernetes', ['./control'])
      for (const part of parts) await symlink('control', join(workshop.folder, part))
    }
  )
