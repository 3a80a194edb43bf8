// The errors of §7 and what the API server's refusals mean. Pure.
import type { KubeError } from '../../shared/kube/errors.ts'
import type { MachineError } from '../../shared/schema/machine.ts'

export type ErrorType = MachineError | 'InvalidSpec' | 'NameConflict'
/** E8: Ready takes the first in this order. */
export const errorTypes: readonly ErrorType[] = [
  'TemplateNotFound',
  'NetworkConfigurationNotFound',
  'StorageClassNotFound',
  'InsufficientResources',
  'KubeVirtApiError',
  'InvalidSpec',
  'NameConflict'
]

export interface Problem {
  /** CloudInitSecretNotFound is a wait (C5), the others are the errors of the table. */
  type: ErrorType | 'CloudInitSecretNotFound'
  /** Which condition tells it besides Ready. */
  about: 'spec' | 'storage' | 'network' | 'vm'
  message: string
  /** Nothing but a change of the spec mends it. */
  final?: boolean
  /** N2: for the counter. */
  network?: string
}

export const isErrorType = (type: Problem['type']): type is ErrorType => type !== 'CloudInitSecretNotFound'

/** Retried by the broker: nothing was decided, the way to the API server is broken. */
export const isTransport = ({ code }: KubeError): boolean =>
  code === 'Unreachable' ||
  code === 'Timeout' ||
  code === 'TooManyRequests' ||
  code === 'Aborted' ||
  code === 'Unauthorized' ||
  code === 'Malformed'

const refusals: ReadonlySet<KubeError['code']> = new Set(['BadRequest', 'Invalid', 'Forbidden', 'TooLarge'])

/** What it means that a child could not be written (E4, E5). The server's own words may repeat what was sent: never for a Secret. */
export function writeProblem(error: KubeError, about: Problem['about'], what: string): Problem {
  if (error.code === 'Forbidden' && /exceeded quota/.test(error.message)) {
    return { type: 'InsufficientResources', about, message: `${what} exceeds a quota: ${error.message}` }
  }
  const missing = error.code === 'NotFound'
  const message = missing
    ? `${what} cannot be written: its API is not installed in this cluster`
    : `${what} was not accepted: ${error.message}`
  return { type: 'KubeVirtApiError', about, message, ...(about === 'vm' && refusals.has(error.code) && { final: true }) }
}
