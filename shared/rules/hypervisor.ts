// What may not be stored as a Hypervisor, and what deserves a word (spec/hypervisor.md §1.2). Pure.
import { isDeepStrictEqual } from 'node:util'
import { Hypervisor } from '../schema/hypervisor.ts'
import { isAgent, type Asked } from './asked.ts'
import { hypervisorRules } from './hypervisor-rules.ts'
import { agentRules, identityRules } from './identity-rules.ts'
import { judge, type Verdict } from './rule.ts'
import { schemaFindings } from './schema-findings.ts'

const allRules = [...hypervisorRules, ...identityRules, ...agentRules]

const idOf = (path: string): string | undefined => {
  if (/^spec\.groups\[\d+\]\.(trait|aggregate)\./.test(path)) return 'R5'
  return path.startsWith('spec.overcommit') ? 'R3' : undefined
}

/** Whatever leaves the spec as it was is nobody's business, unless an agent asks. */
export function checkHypervisor(asked: Asked<Hypervisor>): Verdict {
  const { operation, object, old, subresource, policy } = asked
  const byAgent = isAgent(asked)
  const settled =
    operation === 'DELETE' ||
    subresource ||
    object.metadata.deletionTimestamp ||
    (old && isDeepStrictEqual(object.spec, old.spec))
  if (settled && !byAgent) return { violations: [], warnings: [] }
  const bySchema = schemaFindings(Hypervisor, object, idOf)
  if (bySchema.length > 0) return { violations: bySchema, warnings: [] } // the rest relies on the types
  return byAgent ? judge(agentRules, asked) : judge(allRules, asked, policy.enforce)
}
