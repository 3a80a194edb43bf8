// A scenario: things that happen to the fleet, each at its time. A YAML file; see scenarios/.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { Type, type Static } from 'typebox'
import { Errors } from 'typebox/value'
import { isActionName, type ActionName } from './actions/catalogue.ts'
import { checkArguments, perform, type Args } from './actions/perform.ts'
import type { Fleet } from './fleet.ts'

const Step = Type.Object(
  {
    at: Type.String({ pattern: '^\\d+(\\.\\d+)?(s|m|h)$' }),
    do: Type.String(),
    args: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])))
  },
  { additionalProperties: false }
)
const File = Type.Object(
  { title: Type.String(), see: Type.Optional(Type.String()), steps: Type.Array(Step, { minItems: 1 }) },
  { additionalProperties: false }
)

export interface Scenario {
  title: string
  /** What to look for. */
  see?: string
  steps: Array<{ atMs: number; name: ActionName; args: Args }>
}

const own = join(import.meta.dirname, 'scenarios')
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }
const toMs = (text: string): number => Number.parseFloat(text) * (units[text.at(-1) ?? ''] ?? 0)

export const shippedScenarios = async (): Promise<string[]> =>
  (await readdir(own))
    .filter(name => name.endsWith('.yaml'))
    .map(name => name.slice(0, -'.yaml'.length))
    .sort()

/** Of a file, or of those that come along if it is a mere name. */
export async function readScenario(wanted: string): Promise<Scenario> {
  const shipped = await shippedScenarios()
  const path = shipped.includes(wanted) ? join(own, `${wanted}.yaml`) : wanted
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new Error(`--scenario ${wanted}: ${cause.message}; those that come along: ${shipped.join(', ')}`, { cause })
  })
  try {
    return parseScenario(text)
  } catch (cause) {
    throw new Error(`--scenario ${wanted}: ${(cause as Error).message.split('\n')[0]}`, { cause })
  }
}

/** Everything in it is checked before the first step is done. */
export function parseScenario(text: string): Scenario {
  const file: unknown = load(text)
  const [problem] = Errors(File, file)
  if (problem) throw new Error(`${problem.instancePath.slice(1) || 'the file'} ${problem.message}`)
  const { title, see, steps } = file as Static<typeof File>
  const read = steps.map(({ at, do: name, args = {} }) => {
    if (!isActionName(name)) throw new Error(`at ${at}: there is no action ${name}`)
    return { atMs: toMs(at), name, args: checkArguments(name, args) }
  })
  return { title, ...(see !== undefined && { see }), steps: read.toSorted((a, b) => a.atMs - b.atMs) }
}

/** Begins now; returns what ends it. A step that cannot be done is told, and the rest goes on. */
export function playScenario(fleet: Fleet, { steps }: Scenario, tell: (line: string) => void): () => void {
  const ends = steps.map(({ atMs, name, args }) =>
    fleet.clock.after(atMs, () => {
      perform(fleet, name, args).then(tell, (err: Error) => tell(`${name} could not be done: ${err.message}`))
    })
  )
  return () => ends.forEach(end => end())
}
