// What is asked of the rules for hosts and switches, filled in where a test does not care.
import { defaultPolicy, type Asked, type Policy } from '../../shared/rules/asked.ts'
import type { Verdict } from '../../shared/rules/rule.ts'

export const ha = { username: 'system:serviceaccount:drover:ha' }
export const jane = { username: 'jane' }
export const nodeName = 'authentication.kubernetes.io/node-name'

/** An agent with the token of a pod on that node; without a node, with a token of no pod. */
export const agent = (node?: string, account = 'drover-agents:hypervisor-agent') => ({
  username: `system:serviceaccount:${account}`,
  ...(node !== undefined && { extra: { [nodeName]: [node] } })
})

export type Given<T> = Omit<Partial<Asked<T>>, 'policy'> & { enforce?: boolean; policy?: Partial<Policy> }

export const asked = <T>(object: T, more: Given<T> = {}): Asked<T> => {
  const { enforce = false, policy, ...rest } = more
  return {
    operation: more.old ? 'UPDATE' : 'CREATE',
    object,
    user: jane,
    hosts: { known: true, value: [] },
    evictions: { known: true, value: [] },
    ...rest,
    policy: { ...defaultPolicy, enforce, ...policy }
  }
}

/** `id path` of all that was said. */
export const said = ({ violations, warnings }: Verdict): { refused: string[]; warned: string[] } => {
  const texts = (list: Verdict['violations']) => list.map(({ id, path }) => `${id} ${path}`.trim())
  return { refused: texts(violations), warned: texts(warnings) }
}

export const silence = { refused: [], warned: [] }
