// The policy as its file has it now. A ConfigMap that is changed reaches the file within a minute; what was decided before stays as it was.
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import { parse } from 'yaml'
import { problemIn } from '../../shared/runtime/validate.ts'
import { defaultPolicy, Policy, withDefaults } from './policy.ts'

/** Every event of a storm asks for it. */
const askedEveryMs = 1000

export class PolicyError extends Error {
  override name = 'PolicyError'
}

export function parsePolicy(text: string): Policy {
  let given: unknown
  try {
    given = parse(text)
  } catch (cause) {
    throw new PolicyError('the policy is not YAML', { cause })
  }
  const policy = withDefaults(Policy, given ?? {})
  const problem = problemIn(Policy, policy)
  if (problem !== undefined) throw new PolicyError(`the policy is not valid: ${problem.replaceAll('data/', '/')}`)
  return policy as Policy
}

/** A file that is wrong at the start is refused; one that becomes wrong later changes nothing, and the log says why. Without one, the defaults. */
export async function policyFile(path: string | undefined, log: Logger, nowMs: () => number): Promise<() => Promise<Policy>> {
  if (path === undefined || !existsSync(path)) {
    log.info({ path }, 'no policy file: every default holds')
    return async () => defaultPolicy
  }
  let policy = parsePolicy(await readFile(path, 'utf8'))
  let seen = (await stat(path)).mtimeMs
  let askedMs = nowMs()
  return async () => {
    if (Math.abs(nowMs() - askedMs) < askedEveryMs) return policy
    askedMs = nowMs()
    try {
      const { mtimeMs } = await stat(path)
      if (mtimeMs === seen) return policy
      const text = await readFile(path, 'utf8')
      seen = mtimeMs // what cannot be read is tried again, what is wrong is told once
      policy = parsePolicy(text)
      log.info({ path }, 'the policy was changed')
    } catch (err) {
      log.error({ err, path }, 'the policy cannot be read; the last one holds')
    }
    return policy
  }
}
