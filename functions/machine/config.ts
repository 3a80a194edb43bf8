import { Type, type Static } from 'typebox'
import { Duration } from '../../shared/runtime/config.ts'

export const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  reconcileInterval: Duration({ default: '30s', description: 'period of the resync tick' }),
  maxConcurrentReconciles: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 5,
    description: 'Machines that a tick settles at once'
  }),
  metricsBindAddress: Type.Optional(
    Type.String({ description: 'a port of its own for /metrics, such as :8080; left out, the port of the function' })
  ),
  healthProbeBindAddress: Type.Optional(
    Type.String({ description: 'a port of its own for /healthz and /readyz; left out, the port of the function' })
  ),
  port: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 8080,
    description: 'the port of the function, which needs no second listener (H2)'
  }),
  leaderElection: Type.Boolean({
    default: true,
    description: 'whether only the holder of a lease counts Machines and VMs for /metrics'
  }),
  namespace: Type.Optional(
    Type.String({ description: 'own namespace, for the lease; without it there is none, and every replica counts' })
  ),
  podName: Type.Optional(Type.String({ description: 'who holds the lease' })),
  macSeed: Type.String({ default: '', description: 'makes derived MAC addresses differ between clusters' }),
  allowI440fx: Type.Boolean({ default: false, description: 'whether pc-i440fx machine types are taken' }),
  architecture: Type.Enum(['amd64', 'arm64'], { default: 'amd64', description: 'of the nodes that run the machines' }),
  nadCniVersion: Type.String({
    default: '1.0.0',
    pattern: '^\\d+\\.\\d+\\.\\d+$',
    description: 'cniVersion of the attachments that are made'
  }),
  unschedulableGrace: Duration({ default: '5m', description: 'how long no node may have room before a Machine is Failed' })
})
export type Settings = Static<typeof config>
