// metav1.Condition. Types and reasons are open in the CRD, since conditions of others are kept (HV-6); what Drover itself may write is
// a closed table beside each kind: type → status → reasons.
import { dateTime, int64, listMap, object, text, word } from './vocabulary.ts'

const fields = {
  type: text('What the condition is about', {
    maxLength: 316,
    pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'
  }),
  status: word('Whether it holds', ['True', 'False', 'Unknown']),
  reason: text('Why, as one CamelCase word for programs', {
    minLength: 1,
    maxLength: 1024,
    pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'
  }),
  message: text('Why, for people', { maxLength: 32768 }),
  lastTransitionTime: dateTime('When the status last flipped'),
  observedGeneration: int64('The generation this speaks about', { minimum: 0 })
}

export const conditions = () =>
  listMap(
    'What is known about the object, by type',
    object('One condition', fields, { required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'] }),
    ['type']
  )

/** For OVSNode, whose published example gives type and status only. */
export const briefConditions = () =>
  listMap('What is known about the object, by type', object('One condition', fields, { required: ['type', 'status'] }), ['type'])

export type ConditionStatus = 'True' | 'False' | 'Unknown'

/** What a writer may say: type → status → reasons. */
export type ConditionTable = Record<string, Partial<Record<ConditionStatus, string>>>

/** The union of all (type, status, reason) that a table allows. */
export type Told<Table> = {
  [Type in keyof Table & string]: {
    [Status in keyof Table[Type]]: { type: Type; status: Status; reason: Table[Type][Status] }
  }[keyof Table[Type]]
}[keyof Table & string]
