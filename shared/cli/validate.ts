// `drover validate`: in a pipeline, before anything is applied.
import { text as readAll } from 'node:stream/consumers'
import { inWords, type Finding } from '../rules/rule.ts'
import { apiVersion } from '../schema/kind.ts'
import { NetworkConfiguration } from '../schema/network-configuration.ts'
import { isRecord } from '../schema/openapi.ts'
import { checkObject, type Surroundings } from './check-object.ts'
import { asData, say, type Format } from './output.ts'
import { readObjects, Unreadable, type Found, type Place } from './read-objects.ts'

interface Options {
  output: Format
  enforce: boolean
}

interface Checked extends Place {
  kind: string
  name: string
  namespace?: string
  violations: Finding[]
  warnings: Finding[]
}

interface Outcome {
  checked: Checked[]
  /** Objects of kinds that are not Drover's. */
  skipped: number
}

/** Gives the exit code. */
export async function validate(files: readonly string[], { output, enforce }: Options): Promise<number> {
  const paths = files.length > 0 ? files : process.stdin.isTTY ? [] : ['-']
  try {
    if (paths.length === 0) throw new Unreadable('name a file with -f, or - for standard input')
    const found = await readObjects(paths, () => readAll(process.stdin))
    if (found.length === 0) throw new Unreadable(`there is no object in ${paths.map(inName).join(', ')}`)
    const outcome = check(found, enforce)
    const data = asData(output, { ok: isFine(outcome), ...outcome })
    if (data === undefined) tell(outcome)
    else say(data)
    return isFine(outcome) ? 0 : 1
  } catch (err) {
    if (!(err instanceof Unreadable)) throw err
    process.stderr.write(`drover validate: ${err.message}\n`)
    return 2
  }
}

const inName = (path: string): string => (path === '-' ? 'standard input' : path)

const isFine = ({ checked }: Outcome): boolean => checked.every(({ violations }) => violations.length === 0)

function check(found: readonly Found[], enforce: boolean): Outcome {
  const around: Surroundings = { enforce, network: networksAmong(found) }
  const outcome: Outcome = { checked: [], skipped: 0 }
  for (const { object, file, line } of found) {
    const verdict = checkObject(object, around)
    if (verdict) outcome.checked.push({ file, line, ...nameOf(object), ...verdict })
    else outcome.skipped += 1
  }
  return outcome
}

function nameOf(object: unknown): Pick<Checked, 'kind' | 'name' | 'namespace'> {
  const { kind = '', metadata } = isRecord(object) ? object : {}
  const { name = '', namespace } = isRecord(metadata) ? metadata : {}
  return { kind: String(kind), name: String(name), ...(typeof namespace === 'string' && { namespace }) }
}

/** Files that are applied together know each other. */
export function networksAmong(found: readonly Found[]): Surroundings['network'] {
  const networks = new Map<string, NetworkConfiguration>()
  for (const { object } of found) {
    if (!isRecord(object) || object.kind !== NetworkConfiguration.kind || object.apiVersion !== apiVersion(NetworkConfiguration))
      continue
    const { name, namespace = 'default' } = nameOf(object)
    if (isRecord(object.spec)) networks.set(`${namespace}/${name}`, object as unknown as NetworkConfiguration)
  }
  return (name, namespace) => {
    const value = networks.get(`${namespace}/${name}`)
    return value ? { known: true, value } : { known: false }
  }
}

function tell({ checked, skipped }: Outcome): void {
  for (const { file, line, kind, name, namespace, violations, warnings } of checked) {
    if (violations.length + warnings.length === 0) continue
    say(`${file}:${line}: ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`)
    for (const finding of violations) say(`  refused: ${inWords(finding)}`)
    for (const finding of warnings) say(`  warning: ${inWords(finding)}`)
  }
  const refused = checked.filter(({ violations }) => violations.length > 0).length
  const others = skipped === 0 ? '' : `, ${skipped} of other kinds left out`
  say(`${checked.length} checked, ${refused} refused${others}`)
}
