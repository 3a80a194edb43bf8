import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import { migrationEnded, migrationProgressed } from '../../shared/events/libvirt.ts'
import { openStackFields } from '../../shared/openstack/config.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'
import { sweep, take, type Deps } from './act.ts'
import { manager } from './decide.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  namespace: Type.String({ default: 'monsoon3', description: 'where Migration objects are kept (HV-16)' }),
  ...openStackFields
})

export default defineFunction({
  name: 'migration',
  config,

  async open({ kubeconfig, namespace, ...openstack }, platform): Promise<Deps> {
    const { clock, log, onClose } = platform
    const [{ connect }, { openCloud, tellUnsupported }] = await Promise.all([
      import('../../shared/kube/index.ts'),
      import('../../shared/openstack/connect.ts')
    ])
    const kube = await connect({ manager, log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const cloud = await openCloud(openstack, platform, manager)
    void tellUnsupported(cloud, log)
    return { kube, cloud, namespace, clock, log }
  },

  reactions: [
    on(migrationProgressed, { key: ({ data }) => data.server }, ({ data }, deps: Deps) => take(data, deps)),
    on(migrationEnded, { key: ({ data }) => data.server }, ({ data }, deps: Deps) => take(data, deps)),
    on(tick, { key: () => 'tick' }, ({ data }, deps: Deps) => sweep(data.tick, deps))
  ]
})
