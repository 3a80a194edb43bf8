// Whether a role is the smallest that works: what the API server saw of an account, against what its manifest grants.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Access } from './access.ts'

interface Entry {
  verb: string
  user: { username: string }
  objectRef?: { apiGroup?: string; resource: string; subresource?: string; namespace?: string }
  requestURI: string
  responseStatus?: { code: number }
  annotations?: Record<string, string>
}

interface Role {
  kind: string
  metadata?: { namespace?: string }
  rules?: Array<{ apiGroups?: string[]; resources?: string[]; verbs: string[] }>
}

export interface Rights {
  /** Granted by the file in knative/ and never used: `verb group/resource`. */
  unused: string[]
  /** Asked for and not granted; what admission denies to whoever may ask is not among them. */
  refused: string[]
}

const right = (verb: string, group: string, resource: string, namespace?: string): string =>
  `${verb} ${group === '' ? '' : `${group}/`}${resource}${namespace === undefined ? '' : ` in ${namespace}`}`

/** An apply that makes the object needs the right to create it too. */
const verbsOf = ({ verb, responseStatus }: Entry): string[] =>
  verb === 'patch' && responseStatus?.code === 201 ? ['patch', 'create'] : [verb]

export async function rightsOf(api: Access, file: string, account: string): Promise<Rights> {
  const entries = (await readFile(api.auditLog, 'utf8'))
    .split('\n')
    .flatMap(line => (line === '' ? [] : [JSON.parse(line) as Entry]))
    .filter(({ user, objectRef }) => user.username.endsWith(`:${account}`) && objectRef !== undefined)
  const used = new Set(
    entries.flatMap(entry => {
      const { apiGroup = '', resource = '', subresource, namespace } = entry.objectRef ?? {}
      const whole = subresource === undefined ? resource : `${resource}/${subresource}`
      return verbsOf(entry).flatMap(verb => [right(verb, apiGroup, whole), right(verb, apiGroup, whole, namespace)])
    })
  )
  const text = await readFile(join(import.meta.dirname, '..', '..', 'knative', file), 'utf8')
  const roles = parseAllDocuments(text).map(document => document.toJSON() as Role)
  const granted = roles
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
    .flatMap(({ metadata, rules = [] }) =>
      rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
        apiGroups.flatMap(group =>
          resources.flatMap(resource => verbs.map(verb => right(verb, group, resource, metadata?.namespace)))
        )
      )
    )
  return {
    unused: granted.filter(one => !used.has(one)),
    refused: entries
      .filter(({ annotations }) => annotations?.['authorization.k8s.io/decision'] === 'forbid')
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`)
  }
}
