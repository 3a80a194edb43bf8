// KubeVirt's own go.mod replaces two modules by folders that the published module does not hold, so that `go install` refuses it. Hence
// a small module of our own: KubeVirt's go.mod with both replaced by the published modules of the same release.
import { copyFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from './cache.ts'
import { builtOnce, compile, goModOf } from './go-build.ts'

const version = '1.7.0'
const parts = ['virt-api', 'virt-controller', 'kubevirt-crds', 'kubevirt-webhooks']
export const kubevirtFolder = cacheFolder(`kubevirt-${version}`)

/** virt-api, virt-controller and the printers of their CRDs and webhooks as one binary. */
export const buildKubevirt = (): Promise<string> =>
  builtOnce(
    { what: `KubeVirt ${version}`, folder: kubevirtFolder, stamp: version, takes: 'about 6 minutes on two cores' },
    async workshop => {
      const { folder } = workshop
      const text = await goModOf(workshop, `kubevirt.io/kubevirt@v${version}`)
      const published = text.replaceAll(/=> \.\/staging\/src\/(kubevirt\.io\/[a-z-]+)/g, `=> $1 v${version}`)
      await writeFile(join(folder, 'go.mod'), published)
      await copyFile(join(import.meta.dirname, 'kubevirt', 'main.go'), join(folder, 'main.go'))
      await compile(workshop, { what: 'KubeVirt', output: 'kubevirt' })
      for (const part of parts) await symlink('kubevirt', join(folder, part))
    }
  )
