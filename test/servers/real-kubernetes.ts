// For tests of what only the real Kubernetes does: its controllers, kubectl, and all that the embedded API leaves out.
import { join } from 'node:path'
import { binFolder } from './kubernetes-build.ts'
import { built, realServer } from './real-server.ts'

export type { Cluster } from './kubernetes-server.ts'
export const { kubernetes, ownKubernetes, startKubernetes, share } = realServer
export const compiles = true
export const tier = 'cluster'
export const prepare = built

export const kubectlPath = (): string => join(binFolder, 'kubectl')
