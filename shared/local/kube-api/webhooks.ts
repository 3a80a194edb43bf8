// Calls webhooks as the real server does: the mutating ones one after the other, each on what the last one made; then the validating
// ones, all at once, unless a policy has refused. Each has its own time-out and failure policy.
import type { Admit, Call, Cluster, Mutate } from './cluster.ts'
import { contextOf, meetsConditions, type Admission } from './admission-cel.ts'
import { concerns } from './admission-match.ts'
import { fieldsOf, isFields, listOf, text, type Fields, type KubeObject } from './object.ts'
import { jsonPatch } from './patch.ts'
import { policies } from './policies.ts'
import { ApiError, badRequest, forbidden } from './status.ts'
import { caller, denial, requestOf, type ResolveService } from './webhook-call.ts'

const group = 'admissionregistration.k8s.io'

export interface Webhooks {
  mutate: Mutate
  admit: Admit
  close: () => void
}

export function webhooks(cluster: Omit<Cluster, 'admit' | 'mutate'>, resolve: ResolveService): Webhooks {
  const { ask, close } = caller(resolve)
  const applyPolicies = policies(cluster.store)

  /** In the order of their configurations' names, then as written. */
  function concerned(plural: string, admission: Admission): Fields[] {
    const found = cluster.store
      .list(`${group}/${plural}`)
      .flatMap(configuration => listOf(configuration.webhooks).map(fieldsOf))
      .filter(webhook => concerns(cluster.store, { rules: [], ...webhook }, admission))
    refuseSideEffects(admission.call, found)
    return found
  }

  /** The answer of a webhook that allows; undefined when it is not to be asked, or its failure does not count. */
  async function consult(webhook: Fields, admission: Admission): Promise<Fields | undefined> {
    const name = text(webhook.name)
    const request = requestOf(admission)
    if (!isMeant(webhook, request, admission)) return undefined
    try {
      const response = await ask(webhook, request)
      admission.call.warnings.push(...listOf(response.warnings).map(String))
      if (response.allowed !== true) throw denial(name, fieldsOf(response.status))
      return response
    } catch (err) {
      if (err instanceof ApiError) throw err
      if (webhook.failurePolicy === 'Ignore') return undefined
      throw failed(name, `failed to call webhook: ${(err as Error).message}`)
    }
  }

  return {
    async mutate(call, operation, object, old) {
      let current = object
      const again: Fields[] = []
      for (const webhook of concerned('mutatingwebhookconfigurations', { call, operation, object, old })) {
        const before = current
        current = patched(webhook, current, await consult(webhook, { call, operation, object: current, old }))
        // One that asked for it sees the object once more when a later one has changed it.
        const changed = before !== current
        if (changed) for (const earlier of again.splice(0)) current = await repeat(earlier, current)
        if (webhook.reinvocationPolicy === 'IfNeeded') again.push(webhook)
      }
      return current

      async function repeat(webhook: Fields, from: KubeObject): Promise<KubeObject> {
        return patched(webhook, from, await consult(webhook, { call, operation, object: from, old }))
      }
    },
    async admit(call, operation, object, old) {
      const admission = { call, operation, object, old }
      applyPolicies(admission)
      const asked = concerned('validatingwebhookconfigurations', admission).map(webhook => consult(webhook, admission))
      for (const answer of await Promise.allSettled(asked)) if (answer.status === 'rejected') throw answer.reason
    },
    close
  }
}

function isMeant(webhook: Fields, request: Fields, admission: Admission): boolean {
  try {
    return meetsConditions(webhook.matchConditions, contextOf(admission, request))
  } catch (err) {
    if (webhook.failurePolicy === 'Ignore') return false
    throw forbidden(admission.call.resource, admission.call.name, (err as Error).message)
  }
}

const failed = (name: string, why: string): ApiError => {
  const message = `failed calling webhook ${JSON.stringify(name)}: ${why}`
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })
}

function patched(webhook: Fields, object: KubeObject, response: Fields | undefined): KubeObject {
  if (response?.patch === undefined) return object
  const name = text(webhook.name)
  if (response.patchType !== 'JSONPatch') throw failed(name, `invalid response.patchType: ${text(response.patchType)}`)
  try {
    const result = jsonPatch(object, JSON.parse(Buffer.from(text(response.patch), 'base64').toString()))
    if (isFields(result)) return result as KubeObject
  } catch (err) {
    throw new ApiError(500, 'InternalError', `Internal error occurred: ${(err as Error).message}`)
  }
  throw failed(name, 'its patch leaves no object')
}

function refuseSideEffects({ options }: Call, concerned: Fields[]): void {
  const risky = options.dryRun && concerned.find(webhook => !['None', 'NoneOnDryRun'].includes(text(webhook.sideEffects)))
  if (risky) throw badRequest(`admission webhook ${JSON.stringify(risky.name)} does not support dry run`)
}
