// What this process is reached by, said on its own API: `drover` finds the broker there, since Knative's kinds are not served.
import { ConfigMap, connect, Namespace } from '../kube/index.ts'

export async function putUpSignpost(kubeconfig: string, data: Record<string, string>): Promise<void> {
  const kube = await connect({ manager: 'drover-local', kubeconfig })
  try {
    await kube.apply(Namespace, { metadata: { name: 'drover' } })
    await kube.apply(ConfigMap, { metadata: { name: 'drover-local', namespace: 'drover' }, data })
  } finally {
    kube.close()
  }
}
