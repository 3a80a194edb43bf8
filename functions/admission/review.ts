// admission.k8s.io/v1: what the API server asks, and what it is answered. Pure.
import type { User } from '../../shared/kube/reviews.ts'
import type { Operation } from '../../shared/rules/asked.ts'
import type { PatchOp } from '../../shared/rules/maintenance-stamp.ts'
import { inWords, type Finding, type Verdict } from '../../shared/rules/rule.ts'

export interface Review {
  uid: string
  /** As `vitistack.io/machines`. */
  resource: string
  subresource: string | undefined
  operation: Operation
  namespace: string | undefined
  name: string
  user: User
  object: unknown
  old: unknown
  /** Nothing will be stored, whatever is answered. */
  dryRun: boolean
}

/** Not a question that can be answered: 400. */
export class Malformed extends Error {
  override name = 'Malformed'
}

type Fields = Record<string, unknown>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const operations: ReadonlySet<unknown> = new Set(['CREATE', 'UPDATE', 'DELETE'])

export function readReview(body: string): Review {
  let asked: unknown
  try {
    asked = JSON.parse(body)
  } catch {
    throw new Malformed('the body is not JSON')
  }
  if (!isFields(asked) || asked.kind !== 'AdmissionReview' || asked.apiVersion !== 'admission.k8s.io/v1')
    throw new Malformed('the body is no AdmissionReview of admission.k8s.io/v1')
  const { request } = asked
  if (!isFields(request)) throw new Malformed('the AdmissionReview has no request')
  const { uid, operation, resource, userInfo } = request
  if (typeof uid !== 'string' || uid === '' || uid.length > 128) throw new Malformed('request.uid must be a text')
  if (!operations.has(operation)) throw new Malformed('request.operation must be CREATE, UPDATE or DELETE')
  if (!isFields(resource) || typeof resource.group !== 'string' || typeof resource.resource !== 'string')
    throw new Malformed('request.resource must have a group and a resource')
  return {
    uid,
    operation: operation as Operation,
    resource: `${resource.group}/${resource.resource}`,
    subresource: textOf(request.subResource),
    namespace: textOf(request.namespace),
    name: textOf(request.name) ?? '',
    user: userOf(userInfo),
    object: request.object ?? undefined,
    old: request.oldObject ?? undefined,
    dryRun: request.dryRun === true
  }
}

function userOf(info: unknown): User {
  if (!isFields(info)) return { username: '' }
  const { username, uid, groups, extra } = info
  const user: User = { username: textOf(username) ?? '' }
  if (typeof uid === 'string') user.uid = uid
  if (Array.isArray(groups)) user.groups = texts(groups)
  if (isFields(extra)) user.extra = Object.fromEntries(Object.entries(extra).map(([key, list]) => [key, texts(list)]))
  return user
}

const isText = (value: unknown): value is string => typeof value === 'string'
const texts = (list: unknown): string[] => (Array.isArray(list) ? list.filter(isText) : [])

const head = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":'

export const allow = (uid: string): string => `${head}{"uid":${JSON.stringify(uid)},"allowed":true}}`

const maxWarnings = 16
const maxWarning = 256 // what the API server passes on of one when there are many
const maxMessage = 8192

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`)
const rulesOf = (findings: readonly Finding[]): string => [...new Set(findings.map(({ id }) => id))].join(',')

/** All of it at once: every breach with its path, every warning, and for the audit log which rules spoke. */
export function answer(uid: string, { violations, warnings }: Verdict): string {
  if (violations.length === 0 && warnings.length === 0) return allow(uid)
  const said = warnings.slice(0, maxWarnings).map(finding => cut(inWords(finding), maxWarning))
  if (warnings.length > maxWarnings) said.push(`and ${warnings.length - maxWarnings} more`)
  const response = {
    uid,
    allowed: violations.length === 0,
    ...(violations.length > 0 && { status: refusal(violations) }),
    ...(said.length > 0 && { warnings: said }),
    auditAnnotations: {
      ...(violations.length > 0 && { refused: rulesOf(violations) }),
      ...(warnings.length > 0 && { warned: rulesOf(warnings) })
    }
  }
  return `${head}${JSON.stringify(response)}}`
}

const identityRules: ReadonlySet<string> = new Set(['HV-13', 'HV-14', 'OV-5', 'A14'])

function refusal(violations: readonly Finding[]): object {
  const forbidden = violations.some(({ id }) => identityRules.has(id))
  const lines = violations.map(inWords)
  const message =
    lines.length === 1 ? `${lines[0]}` : `${lines.length} things are wrong:\n${lines.map(line => `- ${line}`).join('\n')}`
  return {
    code: forbidden ? 403 : 422,
    reason: forbidden ? 'Forbidden' : 'Invalid',
    message: cut(message, maxMessage),
    details: {
      causes: violations.slice(0, 100).map(({ path, message, id }) => ({ field: path, message: cut(message, 1024), reason: id }))
    }
  }
}

export function answerPatch(uid: string, operations: readonly PatchOp[]): string {
  if (operations.length === 0) return allow(uid)
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return `${head}${JSON.stringify({ uid, allowed: true, patchType: 'JSONPatch', patch })}}`
}
