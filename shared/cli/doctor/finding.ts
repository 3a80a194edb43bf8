import { KubeError, type Kube, type ListOptions } from '../../kube/index.ts'
import type { Kind, KubeObject } from '../../schema/kind.ts'
import type { Tone } from '../../view/types.ts'

export interface Finding {
  about: string
  tone: Tone
  line: string
  /** What to do about it. */
  todo?: string
}

export const fine = (about: string, line: string): Finding => ({ about, tone: 'ok', line })
export const bad = (about: string, line: string, todo: string): Finding => ({ about, tone: 'bad', line, todo })
export const doubtful = (about: string, line: string, todo: string): Finding => ({ about, tone: 'warn', line, todo })
export const left = (about: string, line: string): Finding => ({ about, tone: 'rest', line })

export type Seen<T> = { items: T[] } | { problem: Finding }

/** What there is of a kind; or why that cannot be said. */
export async function see<T extends KubeObject>(
  kube: Kube,
  kind: Kind<T>,
  absent: Omit<Finding, 'about'>,
  options: ListOptions = {}
): Promise<Seen<T>> {
  try {
    return { items: (await kube.list(kind, options)).items }
  } catch (err) {
    if (!(err instanceof KubeError)) throw err
    const about = kind.plural
    if (err.code === 'NotFound') return { problem: { about, ...absent } }
    if (err.code === 'Forbidden')
      return {
        problem: doubtful(about, 'cannot be looked at: you may not list them', `ask for list on ${kind.plural}.${kind.group}`)
      }
    throw err
  }
}

export interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
}

/** An object as Knative and Kubernetes tell of its health. */
export interface Conditioned extends KubeObject {
  status?: { conditions?: Condition[] }
}
export const conditionOf = ({ status }: Conditioned, type: string): Condition | undefined =>
  status?.conditions?.find(condition => condition.type === type)

export const foreign = <T extends KubeObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
  namespaced = true
): Kind<T> => ({
  group,
  version,
  kind,
  plural,
  namespaced
})
