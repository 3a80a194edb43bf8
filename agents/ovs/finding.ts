// Something that is wrong at this moment, whatever it is. Pure.
import { type IssueType, wordsOf } from './issue-types.ts'

export interface Finding {
  readonly type: IssueType
  readonly object: string
  readonly reason: string
  readonly before: string
  readonly after: string
  /** Names the object, what was seen and expected, and the next step for a person (OV-49). */
  readonly message: string
  readonly evidence: Readonly<Record<string, string>>
}

export const finding = (
  type: IssueType,
  object: string,
  message: string,
  { reason = type, evidence = {} }: Partial<Pick<Finding, 'reason' | 'evidence'>> = {}
): Finding => ({ type, object, message, reason, ...wordsOf(type), evidence })
