// The two objects by which a machine is held back until its host has left OpenStack (HV-58). Pure.
import type { Deployment, Node, PodDisruptionBudget } from '../../shared/kube/kinds.ts'
import type { Applied } from '../../shared/kube/apply.ts'

export interface Options {
  namespace: string
  image: string
}

export interface Signal {
  /** Whether the machine may go: nothing is held back any more. */
  released: boolean
  /** Whether the host is in service: only then the pod counts as started. */
  onboarded: boolean
}

const label = 'cobaltcore-maintenance-controller'
const nameOf = (node: Node): string => `maint-${node.metadata?.name ?? ''}`

function metadataOf(node: Node, { namespace }: Options) {
  const owner = { apiVersion: 'v1', kind: 'Node', name: node.metadata?.name ?? '', uid: node.metadata?.uid ?? '' }
  return { name: nameOf(node), namespace, labels: { [label]: nameOf(node) }, ownerReferences: [owner] }
}

export const budget = (node: Node, { released }: Signal, options: Options): Applied<PodDisruptionBudget> => ({
  metadata: metadataOf(node, options),
  spec: { minAvailable: released ? 0 : 1, selector: { matchLabels: { [label]: nameOf(node) } } }
})

export function deployment(node: Node, { released, onboarded }: Signal, options: Options): Applied<Deployment> {
  const hostname = node.metadata?.labels?.['kubernetes.io/hostname'] ?? node.metadata?.name ?? ''
  return {
    metadata: metadataOf(node, options),
    spec: {
      replicas: released ? 0 : 1,
      selector: { matchLabels: { [label]: nameOf(node) } },
      template: {
        metadata: { labels: { [label]: nameOf(node), 'node.gardener.cloud/critical-component': 'true' } },
        spec: {
          hostNetwork: true,
          nodeSelector: { 'kubernetes.io/hostname': hostname },
          tolerations: [{ operator: 'Exists' }],
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'maint',
              image: options.image,
              command: ['/bin/sleep', 'inf'],
              startupProbe: {
                exec: { command: [onboarded ? '/bin/true' : '/bin/false'] },
                periodSeconds: 60,
                failureThreshold: 1440
              },
              resources: { requests: { cpu: '1m', memory: '4Mi' }, limits: { memory: '16Mi' } }
            }
          ]
        }
      }
    }
  }
}
