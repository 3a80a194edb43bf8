// Doing one thing to the fleet: its arguments are checked, it is done, noted, and remembered until it is undone.
import { Type, type TProperties } from 'typebox'
import { Default, Errors } from 'typebox/value'
import type { Fleet } from '../fleet.ts'
import { catalogue, type ActionName, type ArgsOf } from './catalogue.ts'
import { cloudDeeds } from './cloud.ts'
import { hostDeeds } from './hosts.ts'
import { networkDeeds } from './network.ts'
import { serverDeeds } from './servers.ts'

export type Args = Readonly<Record<string, string | number>>

/** With every default filled in; of cables the action chooses one itself. */
type Filled<A> = Required<Omit<A, 'link'>> & Pick<A, Extract<keyof A, 'link'>>

interface Did {
  did: string
  /** What exactly was done, where the arguments left a choice: what undoes it needs that. */
  args?: Args
}

export type Deeds = { readonly [N in ActionName]: (fleet: Fleet, args: Filled<ArgsOf<N>>) => Did | Promise<Did> }

/** Arguments that make no sense. */
export class BadArguments extends Error {
  override readonly name = 'BadArguments'
}

const deeds: Deeds = {
  ...networkDeeds,
  ...serverDeeds,
  ...hostDeeds,
  ...cloudDeeds,
  'heal-all': async fleet => {
    const open = [...fleet.undo.values()].toReversed() // what was done last stands on what was done before
    const problems: string[] = []
    for (const { name, args } of open)
      await perform(fleet, name, args).catch((err: Error) => problems.push(`${name}: ${err.message}`))
    fleet.undo.clear()
    const did = open.length === 0 ? 'nothing was wrong' : open.length === 1 ? 'one thing undone' : `${open.length} things undone`
    return { did: [did, ...problems].join('; ') }
  }
}

/** With defaults; throws what is wrong with them. */
export function checkArguments(name: ActionName, given: unknown): Args {
  const args: TProperties = catalogue[name].args
  const schema = Type.Object(args, { additionalProperties: false })
  const filled: unknown = Default(schema, { ...(given as object) })
  const [problem] = Errors(schema, filled)
  if (!problem) return filled as Args
  const where = problem.instancePath.slice(1)
  const takes = Object.keys(args).join(', ') || 'no arguments'
  throw new BadArguments(`${name}${where && `: ${where}`} ${problem.message} (it takes ${takes})`)
}

const keyOf = (name: string, args: Args): string =>
  JSON.stringify([name, Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1))])

export async function perform(fleet: Fleet, name: ActionName, given: unknown = {}): Promise<string> {
  const args = checkArguments(name, given)
  const deed = deeds[name] as (fleet: Fleet, args: Args) => Did | Promise<Did> // the arguments were checked against its own schema
  const { did, args: exact = args } = await deed(fleet, args)
  fleet.note(did)
  remember(fleet, name, exact)
  return did
}

function remember(fleet: Fleet, name: ActionName, exact: Args): void {
  const { undo }: { undo?: string } = catalogue[name]
  const kept = (of: ActionName): Args => {
    const names = Object.keys(catalogue[of].args)
    return Object.fromEntries(Object.entries(exact).filter(([key]) => names.includes(key)))
  }
  // what this undoes is no longer open
  for (const [key, { name: open, args }] of fleet.undo)
    if (open === name && key === keyOf(name, { ...args, ...kept(name) })) fleet.undo.delete(key)
  if (undo === undefined) return
  const args = kept(undo as ActionName)
  fleet.undo.set(keyOf(undo, args), { name: undo as ActionName, args })
}
