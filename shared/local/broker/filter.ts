// Which events a Trigger wants (knative.md §3.3). Manifests are checked here, events are only matched.
import type { FilterSpec, TriggerSpec } from './manifest-schema.ts'

export type Attributes = Readonly<Record<string, string>>
export type Matches = (attributes: Attributes) => boolean

/** A filter that Knative's webhook would refuse. */
export class BadFilter extends Error {
  override name = 'BadFilter'
}

const NAME = /^[a-z][a-z0-9]*$/
const always: Matches = () => true

export async function compileTriggerFilter(spec: Pick<TriggerSpec, 'filter' | 'filters'>): Promise<Matches> {
  const legacy = attributesFilter(spec.filter?.attributes ?? {}) // checked even when `filters` overrides it
  return spec.filters?.length ? compileAll(spec.filters, 'filters') : legacy
}

/** The old form: '' asks for presence only. */
function attributesFilter(wanted: Record<string, string>): Matches {
  return everyEntry(wanted, 'filter.attributes', (value, want) => want === '' || value === want)
}

async function compile(filter: FilterSpec, path: string): Promise<Matches> {
  const dialects = Object.keys(filter)
  if (dialects.length > 1) throw new BadFilter(`${path} has more than one dialect: ${dialects.join(', ')}`)
  if (filter.exact) return everyEntry(filter.exact, `${path}.exact`, (value, want) => value === want)
  if (filter.prefix) return everyEntry(filter.prefix, `${path}.prefix`, (value, want) => value.startsWith(want))
  if (filter.suffix) return everyEntry(filter.suffix, `${path}.suffix`, (value, want) => value.endsWith(want))
  if (filter.all) return compileAll(filter.all, `${path}.all`)
  if (filter.any?.length) return compileAny(filter.any, `${path}.any`)
  if (filter.not) return compileNot(filter.not, `${path}.not`)
  if (filter.cesql !== undefined) return compileSql(filter.cesql, `${path}.cesql`)
  return always
}

function everyEntry(wanted: Record<string, string>, path: string, fits: (value: string, want: string) => boolean): Matches {
  const entries = Object.entries(wanted)
  for (const [name] of entries) if (!NAME.test(name)) throw new BadFilter(`${path}: invalid attribute name "${name}"`)
  return attributes => entries.every(([name, want]) => attributes[name] !== undefined && fits(attributes[name], want))
}

const compileList = (filters: FilterSpec[], path: string): Promise<Matches[]> =>
  Promise.all(filters.map((filter, i) => compile(filter, `${path}[${i}]`)))

async function compileAll(filters: FilterSpec[], path: string): Promise<Matches> {
  const parts = await compileList(filters, path)
  return attributes => parts.every(matches => matches(attributes))
}

async function compileAny(filters: FilterSpec[], path: string): Promise<Matches> {
  const parts = await compileList(filters, path)
  return attributes => parts.some(matches => matches(attributes))
}

async function compileNot(filter: FilterSpec, path: string): Promise<Matches> {
  const matches = await compile(filter, path)
  return attributes => !matches(attributes)
}

async function compileSql(expression: string, path: string): Promise<Matches> {
  // Loaded when asked for: the parser generator would cost every start 80 ms, and Drover's own triggers use no CESQL.
  const { compileCesql, CesqlSyntaxError } = await import('./cesql/index.ts')
  try {
    return compileCesql(expression)
  } catch (err) {
    if (err instanceof CesqlSyntaxError) throw new BadFilter(`${path}: ${err.message}`)
    throw err
  }
}
