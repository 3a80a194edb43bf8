// Several clusters: which half of knative/ is where, and how each reaches the other.
import { isFunction, without, type Manifest } from './manifests.ts'

/** Whom the functions are on the hypervisor cluster. */
export const account = { kind: 'ServiceAccount', name: 'control-plane', namespace: 'drover' }
/** Called by the API server that has the objects, so they stay with it; with cert-manager, since no tick comes there. */
const withObjects = /^(drover-)?admission/
/** Those that touch nothing but what is beside them. */
const local = new Set(['dead-letters', 'nova-notifications'])
const agents = /-agent$|-ovs-diagnostics$/

/** The namespaces that hold functions. */
const homes = new Set(['drover', 'kubevirt-operator-system'])

const stays = ({ kind, metadata: { name, namespace } }: Manifest): boolean =>
  withObjects.test(name) ||
  agents.test(name) ||
  (namespace !== undefined && !homes.has(namespace)) ||
  kind === 'Namespace' ||
  kind === 'NetworkPolicy'
const isRole = ({ kind }: Manifest): boolean => /^(Cluster)?Role(Binding)?$/.test(kind)
const ofLocal = ({ metadata }: Manifest): boolean => [...local].some(name => metadata.name.includes(name))
const isOurs = ({ kind, metadata: { name, namespace = '' } }: Manifest): boolean =>
  (kind === 'Namespace' && homes.has(name)) || (kind === 'NetworkPolicy' && homes.has(namespace))

/** Where the functions run: no agents, no admission, no rights on objects that are elsewhere. */
export const withoutObjects = (all: readonly Manifest[]): object[] =>
  without(all.filter(one => (stays(one) && !isOurs(one)) || (isRole(one) && !ofLocal(one))))

/** Each function is given the other cluster's kubeconfig. */
export function targetPatches(all: readonly Manifest[]): object[] {
  return all
    .filter(one => isFunction(one) && !withObjects.test(one.metadata.name) && !local.has(one.metadata.name))
    .map(({ metadata, spec }) => {
      const pod = spec.template.spec
      const at = '/spec/template/spec'
      const add = (list: unknown, path: string, value: object) =>
        list === undefined ? { op: 'add', path, value: [value] } : { op: 'add', path: `${path}/-`, value }
      const { env, volumeMounts } = pod.containers[0]
      const patch = [
        add(env, `${at}/containers/0/env`, { name: 'KUBECONFIG', value: '/etc/drover/hypervisor-cluster/kubeconfig' }),
        add(volumeMounts, `${at}/containers/0/volumeMounts`, {
          name: 'hypervisor-cluster',
          mountPath: '/etc/drover/hypervisor-cluster',
          readOnly: true
        }),
        add(pod.volumes, `${at}/volumes`, { name: 'hypervisor-cluster', secret: { secretName: 'hypervisor-cluster' } })
      ]
      return { target: { group: 'serving.knative.dev', kind: 'Service', name: metadata.name }, patch: JSON.stringify(patch) }
    })
}

/** Where the objects are: agents, admission, and the functions' rights. */
export const withoutFunctions = (all: readonly Manifest[]): object[] =>
  without(
    all.filter(
      one =>
        ((!stays(one) || one.kind === 'SinkBinding') && (!isRole(one) || ofLocal(one)) && one.kind !== 'PodDisruptionBudget') ||
        isTickOf(one)
    )
  )

const isTickOf = ({ kind, metadata }: Manifest): boolean => kind === 'Trigger' && !withObjects.test(metadata.name)

/** … which one account has there, for all of them. */
export function rightsPatches(all: readonly Manifest[]): object[] {
  const mine = (one: Manifest) =>
    one.kind.endsWith('RoleBinding') && !ofLocal(one) && !withObjects.test(one.metadata.name) && !agents.test(one.metadata.name)
  return all.filter(mine).map(({ kind, metadata: { name, namespace } }) => ({
    target: { group: 'rbac.authorization.k8s.io', kind, name, ...(namespace !== undefined && { namespace }) },
    patch: JSON.stringify([{ op: 'replace', path: '/subjects', value: [account] }])
  }))
}
