// What a request is about, read from its method and address: the same reading serves routing and authorization.
import { parseFieldSelector } from './selectors.ts'

export interface RequestInfo {
  verb: string
  path: string
  isResource: boolean
  group: string
  version: string
  namespace: string
  resource: string
  subresource: string
  name: string
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete', GET: 'get', HEAD: 'get' }

export function requestInfo(method: string, url: URL): RequestInfo {
  const verb = verbs[method] ?? method.toLowerCase()
  const path = url.pathname
  const parts = path
    .split('/')
    .filter(part => part !== '')
    .map(decodeURIComponent)
  const plain = { verb, path, isResource: false, group: '', version: '', namespace: '', resource: '', subresource: '', name: '' }
  const isCore = parts[0] === 'api' && parts.length >= 3
  if (!isCore && !(parts[0] === 'apis' && parts.length >= 4)) return plain
  const [group = '', version = ''] = isCore ? ['', parts[1]] : [parts[1], parts[2]]
  const rest = parts.slice(isCore ? 2 : 3)
  const watched = rest[0] === 'watch'
  if (watched) rest.shift()
  const { namespace, resource = '', name = '', subresource = '' } = addressed(rest)
  const asked = { ...plain, isResource: true, group, version, namespace, resource, name, subresource }
  if (name !== '') return watched ? { ...asked, verb: 'watch' } : asked
  const wantsWatch = watched || ['1', 'true'].includes(url.searchParams.get('watch') ?? '')
  const collective: Record<string, string> = { get: wantsWatch ? 'watch' : 'list', delete: 'deletecollection' }
  return { ...asked, verb: collective[verb] ?? verb, name: selectedName(url.searchParams.get('fieldSelector')) }
}

function addressed(rest: string[]): { namespace: string; resource?: string; name?: string; subresource?: string } {
  const [first = '', namespace = '', resource, name, subresource] = rest
  // namespaces/X/status and the like are about the namespace itself.
  if (first === 'namespaces' && resource !== undefined && !['status', 'finalize'].includes(resource))
    return { namespace, resource, ...(name !== undefined && { name }), ...(subresource !== undefined && { subresource }) }
  const [kind = '', own, sub] = rest
  return {
    namespace: kind === 'namespaces' ? (own ?? '') : '',
    resource: kind,
    ...(own !== undefined && { name: own }),
    ...(sub !== undefined && { subresource: sub })
  }
}

/** A list or watch of one name is authorized like a get of that name. */
function selectedName(selector: string | null): string {
  if (!selector?.includes('metadata.name')) return ''
  return parseFieldSelector(selector).find(({ field, equal }) => field === 'metadata.name' && equal)?.value ?? ''
}
