// A command that talks to a cluster: by kubeconfig, as whoever runs it, with a sentence that helps when it cannot.
import { connect, KubeError, type Kube, type KubeErrorCode } from '../kube/index.ts'

export interface ClusterOptions {
  kubeconfig?: string
}

/** Told as one sentence, without a stack: what the user can mend. */
export class Trouble extends Error {
  override name = 'Trouble'
}

const advice: Partial<Record<KubeErrorCode, string>> = {
  Unconfigured: 'name a kubeconfig with --kubeconfig or KUBECONFIG; `npm start` prints one for the local platform',
  Unreachable: 'is the cluster up, and the kubeconfig the right one?',
  Timeout: 'the API server does not answer in time; try again',
  Unauthorized: 'your credentials are not accepted: log in again, or renew the kubeconfig',
  Forbidden: 'ask for the right that the message names'
}

/** Gives the exit code: that of the work, or 2 when the cluster did not let us. */
export async function onCluster(
  command: string,
  { kubeconfig }: ClusterOptions,
  work: (kube: Kube) => Promise<number>
): Promise<number> {
  let kube: Kube | undefined
  try {
    kube = await connect({ manager: 'drover-cli', ...(kubeconfig && { kubeconfig }) })
    return await work(kube)
  } catch (err) {
    if (!(err instanceof KubeError) && !(err instanceof Trouble)) throw err
    const help = err instanceof KubeError ? advice[err.code] : undefined
    process.stderr.write(`drover ${command}: ${err.message}${help === undefined ? '' : `; ${help}`}\n`)
    return 2
  } finally {
    kube?.close()
  }
}
