// A command that talks to a cluster: by kubeconfig, as whoever runs it, with a sentence that helps when it cannot.
import { connect, KubeError, type Kube, type KubeErrorCode, type Log } from '../kube/index.ts'

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
  Timeout: 'it may be busy: try again',
  Unauthorized: 'your credentials are not accepted: log in again, or renew the kubeconfig',
  Forbidden: 'ask for the right that the message names; `drover doctor` lists what is missing',
  NotFound: 'is Drover installed there? `kubectl apply -k crds/` makes its kinds; `drover doctor` tells what else is missing'
}

/** What the client tells on the way: a server that went away while somebody watches must not look like a fleet at rest. */
function toStderr(command: string): Log {
  let toldAt = -Infinity
  return {
    warn(fields, message) {
      const warning = 'warning' in fields ? String(fields.warning) : undefined
      if (warning !== undefined)
        process.stderr.write(
          `drover ${command}: ${[...warning.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text).join('; ') || warning}\n`
        )
      if (warning !== undefined || performance.now() - toldAt < silenceMs) return
      toldAt = performance.now()
      const why = 'err' in fields && fields.err instanceof Error ? fields.err.message : message
      process.stderr.write(`\ndrover ${command}: ${why}; trying again, Ctrl-C ends it\n`)
    }
  }
}
const silenceMs = 10_000

/** Gives the exit code: that of the work, or 2 with a sentence when it could not be done. */
export async function told(command: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (err) {
    if (!(err instanceof KubeError) && !(err instanceof Trouble)) throw err
    const help = err instanceof KubeError ? advice[err.code] : undefined
    process.stderr.write(`drover ${command}: ${err.message}${help === undefined ? '' : `; ${help}`}\n`)
    return 2
  }
}

/** The same for what needs a cluster. */
export const onCluster = (
  command: string,
  { kubeconfig }: ClusterOptions,
  work: (kube: Kube) => Promise<number>
): Promise<number> =>
  told(command, async () => {
    const kube = await connect({ manager: 'drover-cli', log: toStderr(command), ...(kubeconfig && { kubeconfig }) })
    try {
      return await work(kube)
    } finally {
      kube.close()
    }
  })
