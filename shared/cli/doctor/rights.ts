// What the one who asks may do: each command of this program needs something.
import type { Access, Kube } from '../../kube/index.ts'
import type { Kind, KubeObject } from '../../schema/kind.ts'
import { doubtful, fine, type Finding } from './finding.ts'

interface Review extends KubeObject {
  spec: { resourceAttributes: Access }
  status?: { allowed: boolean }
}
const Review: Kind<Review> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false
}

const kvm = 'kvm.cloud.sap'
const needs: Array<[command: string, access: { verb: string; group: string; resource: string }]> = [
  ['get, describe', { verb: 'list', group: kvm, resource: 'hypervisors' }],
  ['get, describe', { verb: 'list', group: kvm, resource: 'evictions' }],
  ['describe', { verb: 'list', group: kvm, resource: 'migrations' }],
  ['describe', { verb: 'list', group: 'ovs.c5c3.io', resource: 'ovsnodes' }],
  ['drain, undrain', { verb: 'patch', group: kvm, resource: 'hypervisors' }],
  ['drain --dry-run', { verb: 'create', group: kvm, resource: 'evictions' }],
  ['drain --dry-run', { verb: 'delete', group: kvm, resource: 'evictions' }],
  ['drain --watch', { verb: 'watch', group: kvm, resource: 'evictions' }],
  ['events, deadletters', { verb: 'list', group: 'events.k8s.io', resource: 'events' }],
  ['events --follow', { verb: 'watch', group: 'events.k8s.io', resource: 'events' }]
]

export async function checkRights(kube: Kube): Promise<Finding[]> {
  const answers = await Promise.all(
    needs.map(async ([command, access]) => {
      const { status } = await kube.create(Review, { metadata: {}, spec: { resourceAttributes: access } })
      return { command, access, allowed: status?.allowed === true }
    })
  )
  const refused = answers.filter(({ allowed }) => !allowed)
  if (refused.length === 0) return [fine('your rights', 'every command of drover is allowed')]
  return refused.map(({ command, access: { verb, group, resource } }) =>
    doubtful('your rights', `you may not ${verb} ${resource}: needed by ${command}`, `ask for ${verb} on ${resource}.${group}`)
  )
}
