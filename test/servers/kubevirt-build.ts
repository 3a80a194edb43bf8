import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from './cache.ts'
import { builtOnce, compile } from './go-build.ts'

const version = '1.7.0' // as in kubevirt/go.mod
const parts = ['virt-api', 'virt-controller', 'kubevirt-crds', 'kubevirt-webhooks']
export const kubevirtFolder = cacheFolder(`kubevirt-${version}`)

/** virt-api, virt-controller and the printers of their CRDs and webhooks as one binary. */
export const buildKubevirt = (): Promise<string> =>
  builtOnce(
    { what: `KubeVirt ${version}`, folder: kubevirtFolder, stamp: version, takes: 'about 5 minutes on two cores' },
    async workshop => {
      await compile(workshop, { what: 'KubeVirt', module: join(import.meta.dirname, 'kubevirt') })
      for (const part of parts) await symlink('kubevirt', join(workshop.folder, part))
    }
  )
