// Kubernetes' own go.mod replaces its staging modules by folders that the published module does not hold, so `go install` refuses it.
// Hence a small module of our own: Kubernetes' go.mod with each staging folder replaced by the published module of the same release.
import { copyFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from './cache.ts'
import { builtOnce, compile, goModOf, type Workshop } from './go-build.ts'

export const version = '1.36.3'
const parts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl']
export const binFolder = cacheFolder(`kubernetes-${version}-control`)

/** The go.mod of a module that compiles parts of Kubernetes, in the versions that Kubernetes chose. */
export async function goMod(workshop: Workshop): Promise<string> {
  const text = await goModOf(workshop, `k8s.io/kubernetes@v${version}`)
  return text.replaceAll(/=> \.\/staging\/src\/(k8s\.io\/[a-z-]+)/g, `=> $1 v0.${version.slice(2)}`)
}

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

export const compileKubernetes = (workshop: Workshop, what: string, output: string, packages?: string[]): Promise<void> =>
  compile(workshop, { what, output, linkerFlags: linkerFlags(), ...(packages && { packages }) })

/** etcd, kube-apiserver, kube-controller-manager and kubectl as one binary. */
export const buildKubernetes = (): Promise<string> =>
  builtOnce(
    { what: `Kubernetes ${version}`, folder: binFolder, stamp: version, takes: 'about 6 minutes on two cores' },
    async workshop => {
      const { folder } = workshop
      await writeFile(join(folder, 'go.mod'), await goMod(workshop))
      await copyFile(join(import.meta.dirname, 'kubernetes', 'main.go'), join(folder, 'main.go'))
      await compileKubernetes(workshop, 'Kubernetes', 'kube')
      for (const part of parts) await symlink('kube', join(folder, part))
    }
  )
