// The addresses that are not about objects: health, version, discovery, OpenAPI.
import type { Answer } from './answer.ts'
import { aggregated, apiVersions, groupList, oneGroup, resourceList } from './discovery.ts'
import type { Fields } from './object.ts'
import { openApiDocument, openApiIndex } from './openapi.ts'
import type { Registry } from './resource.ts'
import { noSuchPath } from './status.ts'

const version = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0-drover',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`
}

// kubectl wants version 2 for lists of objects of several kinds, in protobuf: swagger (1), info (2) with title (1) and version (2). It describes
// no kind, so that kubectl leaves validation to the server.
const openApiV2Form = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const emptyOpenApiV2 = '\n\x032.0\x12\x0f\n\x06Drover\x12\x05v1.36'

const aggregatedForm = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

export function answerPath(registry: Registry, path: string, accept: string): Answer {
  const parts = path.split('/').filter(part => part !== '')
  const [first, second, third] = parts
  if (['healthz', 'livez', 'readyz'].includes(first ?? '')) return { code: 200, body: 'ok' }
  if (first === 'version' && parts.length === 1) return found(version)
  if (first === 'openapi' && second === 'v2' && parts.length === 2)
    return { code: 200, body: emptyOpenApiV2, type: openApiV2Form }
  if (first === 'openapi' && second === 'v3')
    return found(parts.length === 2 ? openApiIndex(registry) : openApiDocument(registry, parts.slice(2).join('/')))
  if ((first === 'api' || first === 'apis') && parts.length === 1) {
    if (wantsAggregated(accept)) return { ...found(aggregated(registry, first === 'api')), type: aggregatedForm }
    return found(first === 'api' ? apiVersions() : groupList(registry))
  }
  if (first === 'api' && parts.length === 2) return found(resourceList(registry, '', second ?? ''))
  if (first === 'apis' && parts.length === 2) return found(oneGroup(registry, second ?? ''))
  if (first === 'apis' && parts.length === 3) return found(resourceList(registry, second ?? '', third ?? ''))
  return { code: 404, body: '404 page not found\n' }
}

const wantsAggregated = (accept: string): boolean => /as=APIGroupDiscoveryList/.test(accept) && /v=v2\b/.test(accept)

function found(body: Fields | undefined): Answer {
  if (!body) throw noSuchPath()
  return { code: 200, body }
}
