// Conditions as Kubernetes has them (HV-6). Pure: decide files import this.

export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  lastTransitionTime: string
  observedGeneration?: number
}

/** A condition before it is compared with what was. */
export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

interface HasConditions {
  status?: { conditions?: { type: string; status: string }[] }
}

const maxMessageBytes = 1024

/** The wanted conditions as they are to be applied: the transition time moves only when the status flips. Those of others stay theirs. */
export function conditionSet(
  previous: readonly { type: string; status: string; lastTransitionTime?: string }[] | undefined,
  wanted: readonly Verdict[],
  now: Date,
  generation?: number
): Condition[] {
  return wanted.map(({ type, status, reason, message }) => {
    const before = previous?.find(condition => condition.type === type)
    return {
      type,
      status,
      reason,
      message: cut(message),
      lastTransitionTime: (before?.status === status && before.lastTransitionTime) || timestamp(now),
      ...(generation !== undefined && { observedGeneration: generation })
    }
  })
}

type ConditionOf<T> = T extends { status?: { conditions?: (infer C)[] } } ? C : never

export function findCondition<T extends HasConditions>(object: T | undefined, type: string): ConditionOf<T> | undefined {
  return object?.status?.conditions?.find(condition => condition.type === type) as ConditionOf<T> | undefined
}

/** Said to be true. A missing or unknown condition is neither true nor false. */
export const isTrue = (object: HasConditions | undefined, type: string): boolean => findCondition(object, type)?.status === 'True'

export const isFalse = (object: HasConditions | undefined, type: string): boolean =>
  findCondition(object, type)?.status === 'False'

/** metav1.Time: whole seconds. */
export const timestamp = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z')

function cut(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= maxMessageBytes) return message
  let end = maxMessageBytes - Buffer.byteLength('…')
  while ((bytes[end]! & 0xc0) === 0x80) end-- // not within a character
  return `${bytes.toString('utf8', 0, end)}…`
}
