// The table of rules in README.md, from the rules themselves. Pure.
import { evictionRules } from '../../shared/rules/eviction.ts'
import { hypervisorRules } from '../../shared/rules/hypervisor-rules.ts'
import { agentRules, identityRules } from '../../shared/rules/identity-rules.ts'
import { machineRules } from '../../shared/rules/machine.ts'
import { networkRules } from '../../shared/rules/network-configuration.ts'
import { ovsNodeRules } from '../../shared/rules/ovs-node.ts'
import type { Rule } from '../../shared/rules/rule.ts'

type Row = Omit<Rule<never>, 'check'>

/** What has no row of its own: the schema says it (R5), or the way of asking does. */
const others: readonly Row[] = [
  {
    id: 'R5',
    weight: 'refused',
    what: 'An empty group name, or a UUID that is none',
    example: 'groups: [{ trait: { name: "" } }]',
    fix: 'give the name; a UUID has 8-4-4-4-12 hexadecimal digits'
  },
  {
    id: 'W10',
    weight: 'warned',
    what: 'the deletion of a NetworkConfiguration that Machines refer to (NC4)',
    example: 'kubectl delete nc prod',
    fix: 'move the Machines to another network first'
  }
]

const kinds: ReadonlyArray<[title: string, rows: readonly Row[]]> = [
  ['Machine', machineRules],
  ['NetworkConfiguration', [...networkRules, ...others.filter(({ id }) => id === 'W10')]],
  ['Hypervisor', [...hypervisorRules, ...others.filter(({ id }) => id === 'R5'), ...identityRules, ...agentRules]],
  ['Eviction', evictionRules],
  ['OVSNode', ovsNodeRules]
]

const answers = { refused: 'refused', objected: 'warned; refused with `ENFORCE=true`', warned: 'warned' } as const
const cell = (text: string): string => text.replaceAll('|', '\\|')
const line = ({ id, weight, what, example, fix }: Row): string =>
  `| ${id} | ${answers[weight]} | ${cell(what)} | \`${cell(example)}\` | ${cell(fix)} |`

function table(): string {
  const head = '| rule | answer | what | example | what to do |\n|---|---|---|---|---|'
  return kinds.map(([title, rows]) => `### ${title}\n\n${head}\n${rows.map(line).join('\n')}`).join('\n\n')
}

const start = '<!-- rules: npm run docs -->'
const end = '<!-- /rules -->'

/** The text with its tables as the code has them now. */
export function withRules(text: string): string {
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`no place for the table of rules: ${start} … ${end}`)
  return `${text.slice(0, from + start.length)}\n\n${table()}\n\n${text.slice(to)}`
}
