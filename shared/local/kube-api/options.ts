// The query of a write: dryRun, fieldManager, force, fieldValidation.
import type { WriteOptions } from './cluster.ts'
import { required, unsupported } from './causes.ts'
import { invalidOption } from './status.ts'

const kinds: Record<string, string> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions'
}
const validations = ['Ignore', 'Strict', 'Warn'] as const

export function writeOptions(
  verb: string,
  query: URLSearchParams,
  userAgent: string | undefined,
  applies: boolean
): WriteOptions {
  const kind = kinds[verb] ?? 'DeleteOptions'
  const dryRun = query.getAll('dryRun').filter(value => value !== '')
  if (dryRun.some(value => value !== 'All')) throw invalidOption(kind, unsupported('dryRun', dryRun, ['All']))
  const asked = query.get('fieldValidation') ?? ''
  const fieldValidation = asked === '' ? 'Warn' : validations.find(value => value === asked)
  if (!fieldValidation) throw invalidOption(kind, unsupported('fieldValidation', asked, ['', ...validations]))
  const manager = query.get('fieldManager') ?? ''
  if (applies && !manager) throw invalidOption('PatchOptions', required('fieldManager', 'is required for apply patch'))
  const force = ['1', 'true'].includes(query.get('force') ?? '')
  return { dryRun: dryRun.length > 0, fieldManager: manager || agentName(userAgent), force, fieldValidation }
}

/** A writer that gives no name is called by its program's. */
const agentName = (userAgent: string | undefined): string => userAgent?.split('/')[0]?.slice(0, 128) || 'unknown'
