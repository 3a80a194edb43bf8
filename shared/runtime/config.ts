import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { Static, TObject, TSchema } from 'typebox'
import { Check } from 'typebox/schema'
import { coerce, expected, fieldOf } from './config-field.ts'

export { Duration, Secret } from './config-field.ts'

export type Env = Readonly<Record<string, string | undefined>>

export interface Sources {
  env?: Env | undefined
  /** The text of a file, or undefined when there is none. */
  files?: (path: string) => string | undefined
}

/** Every problem at once, each with the name of its variable; the value of a secret is never part of it. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('; '))
    this.problems = problems
  }
}

/** `maxBodyBytes` → `MAX_BODY_BYTES` */
export const envName = (field: string): string => field.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()

/**
 * A field comes from its variable, or from the file that `<VARIABLE>_FILE` names, or from the file of its name in the
 * folder CONFIG_DIR (a mounted Secret or ConfigMap), or from its default. An empty variable is an absent one.
 * This is the only place that reads process.env.
 */
export function readConfig<S extends TObject>(
  schema: S,
  { env = process.env, files = readText }: Sources = {}
): Readonly<Static<S>> {
  const problems: string[] = []
  const config: Record<string, unknown> = {}
  for (const [field, type] of Object.entries<TSchema>(schema.properties)) {
    const read = readField(field, type, schema.required?.includes(field) ?? false, { env, files })
    if ('problem' in read) problems.push(`${envName(field)} ${read.problem}`)
    else if (read.value !== undefined) config[field] = Object.freeze(read.value)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return seal(config, schema) as Readonly<Static<S>>
}

type Read = { value: unknown } | { problem: string }

function readField(field: string, type: TSchema, required: boolean, sources: Required<Sources>): Read {
  const text = textOf(field, sources)
  if (typeof text === 'object') return text
  const { default: byDefault, secret } = fieldOf(type)
  if (text === undefined) {
    return byDefault === undefined && required ? { problem: `is missing, expected ${expected(type)}` } : { value: byDefault }
  }
  const value = coerce(type, text)
  if (value !== undefined && Check(type, value)) return { value }
  return { problem: `is ${secret ? 'not valid' : inspect(text)}, expected ${expected(type)}` }
}

function textOf(field: string, { env = {}, files }: Required<Sources>): string | undefined | { problem: string } {
  const name = envName(field)
  const direct = env[name] || undefined
  const path = env[`${name}_FILE`] || undefined
  if (direct !== undefined && path !== undefined) return { problem: `is given twice, also as ${name}_FILE` }
  if (direct !== undefined) return direct
  const folder = env.CONFIG_DIR || undefined
  if (path === undefined && folder === undefined) return undefined
  const text = files(path ?? join(folder ?? '', field))
  if (text === undefined && path !== undefined) return { problem: `is to be read from ${path}, which does not exist` }
  return text?.replace(/\r?\n$/, '') || undefined
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Frozen, and shown without its secrets wherever it is printed or serialised as a whole. */
function seal(config: Record<string, unknown>, schema: TObject): Record<string, unknown> {
  const shown = (): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(config).map(([field, value]) => [field, fieldOf(schema.properties[field] ?? {}).secret ? '***' : value])
    )
  Object.defineProperty(config, 'toJSON', { value: shown })
  Object.defineProperty(config, inspect.custom, { value: shown })
  return Object.freeze(config)
}
