// From a request to its answer: who asks, whether it may, and the verb's own work.
import type { Answer } from './answer.ts'
import { audited, type Audit } from './audit.ts'
import { boundTo } from './bound.ts'
import { mediaType, parseObject, parsePatch, readBody, type Asked } from './body.ts'
import type { Call, Cluster, User } from './cluster.ts'
import { timedOut, tooMany, type Effect, type Faults } from './faults.ts'
import { impersonated } from './impersonate.ts'
import { list, parseRevision, selection } from './list.ts'
import { formOf, includeOf, presentList, presentOne, type TableOptions } from './media.ts'
import { fieldsOf, isFields, type Fields, type KubeObject } from './object.ts'
import { writeOptions } from './options.ts'
import { answerPath } from './paths.ts'
import { isAllowed, refusal, type Attributes } from './rbac.ts'
import { deletedStatus, deleteOptions, remove } from './remove.ts'
import { requestInfo, type RequestInfo } from './request-info.ts'
import { present, type Resource } from './resource.ts'
import { questions } from './reviews.ts'
import { ApiError, badRequest, methodNotAllowed, noSuchPath, notFound, tooLargeRevision } from './status.ts'
import type { Tokens } from './tokens.ts'
import { watch, type Outlet } from './watch.ts'
import { create, patch, patchTypesOf, update, type Written } from './write.ts'

export interface Server {
  cluster: Cluster
  tokens: Tokens
  audit?: Audit | undefined
  faults: Faults
}

/** Where an answer goes: once all of it, or a watch that tells one change after the other. */
export interface Reply {
  send(answer: Answer): void
  follow(): Outlet
  /** The connection breaks before the answer is sent. */
  lose(answer: Answer): void
}

export async function handle(server: Server, request: Asked, reply: Reply): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://127.0.0.1')
  const info = requestInfo(request.method ?? 'GET', url)
  const sender = server.tokens.authenticate(request.headers.authorization)
  const user = impersonated(server.cluster.store, sender, request.headers)
  const attributes: Attributes = { ...info, path: info.isResource ? undefined : info.path }
  const allowed = isAllowed(server.cluster.store, user, attributes)
  const work = async (to: Reply): Promise<void> => {
    if (!allowed) throw refusal(user, attributes)
    const effect = server.faults.next(info)
    if (effect) return goWrong(effect, to, lost => perform(server, { url, info, user }, request, lost))
    return perform(server, { url, info, user }, request, to)
  }
  if (!server.audit) return work(reply)
  const told = audited(server.audit, { user: sender, info, uri: request.url ?? '/', allowed }, reply)
  await work(told.reply).catch(told.failed)
}

async function goWrong(effect: Effect, reply: Reply, work: (reply: Reply) => Promise<void>): Promise<void> {
  if ('tooManySeconds' in effect) return reply.send(tooMany(effect.tooManySeconds))
  if ('hangs' in effect) return
  let answer: Answer = { code: 500, body: '' }
  await work({ ...reply, send: given => void (answer = given) }).catch((err: unknown) => {
    if (!(err instanceof ApiError)) throw err
    answer = { code: err.code, body: err.toStatus() }
  })
  if ('timesOut' in effect) throw timedOut()
  reply.lose(answer)
}

async function perform(
  server: Server,
  { url, info, user }: { url: URL; info: RequestInfo; user: User },
  request: Asked,
  reply: Reply
): Promise<void> {
  if (!info.isResource) {
    if (info.verb !== 'get') throw methodNotAllowed()
    reply.send(answerPath(server.cluster.registry, info.path, request.headers.accept ?? ''))
    return
  }
  const question = info.version === 'v1' && questions.find(each => each.group === info.group && each.resource === info.resource)
  if (question) {
    if (info.verb !== 'create') throw methodNotAllowed()
    const type = mediaType(request.headers['content-type'])
    const body = fieldsOf(parseObject(question, type, await readBody(request)))
    const status = question.answer({ ...server.cluster, tokens: server.tokens, user }, fieldsOf(body.spec))
    reply.send({
      code: 201,
      body: {
        kind: question.kind,
        apiVersion: `${question.group}/v1`,
        metadata: {},
        ...(isFields(body.spec) && { spec: body.spec }),
        status
      }
    })
    return
  }
  const resource = server.cluster.registry.find(info.group, info.version, info.resource)
  if (!resource) throw missing(server.cluster, info)
  await serve(server, resource, info, user, url.searchParams, request, reply)
}

// An unknown group is no path at all; an unknown resource of a known group is told as a Status.
function missing({ registry }: Cluster, { group }: RequestInfo): ApiError {
  return registry.all().some(resource => resource.group === group && !resource.custom) ? noSuchPath() : new NoPage()
}

/** Answered by the real server with plain text. */
export class NoPage extends ApiError {
  constructor() {
    super(404, 'NotFound', '404 page not found')
  }
}

async function serve(
  server: Server,
  resource: Resource,
  info: RequestInfo,
  user: User,
  query: URLSearchParams,
  request: Asked,
  reply: Reply
): Promise<void> {
  const { cluster } = server
  const { verb, subresource } = info
  const type = mediaType(request.headers['content-type'])
  const applies = verb === 'patch' && type === 'application/apply-patch+yaml'
  const options = writeOptions(verb, query, request.headers['user-agent'], applies)
  const call: Call = {
    resource,
    namespace: resource.namespaced ? info.namespace : '',
    name: nameOf(info),
    subresource,
    user,
    options,
    warnings: []
  }
  const form = formOf(request.headers.accept)
  const table: TableOptions = { now: cluster.clock(), include: includeOf(query), columns: true }
  const one = ({ object, created }: Written): Answer => ({
    code: created ? 201 : 200,
    body: presentOne(resource, object, form, table),
    warnings: call.warnings
  })
  if (verb === 'watch') return watch({ cluster, call, query, form, how: server.faults.watches }, () => reply.follow())
  const text = verb === 'get' || verb === 'list' ? '' : await readBody(request)
  if (subresource === 'token' && resource.subresources.includes('token')) return reply.send(issueToken(server, call, text))
  if (subresource && !(subresource === 'status' && resource.hasStatus)) throw noSuchPath()
  switch (verb) {
    case 'get':
      return reply.send(one({ object: read(cluster, call, query), created: false }))
    case 'list':
      return reply.send({ code: 200, body: presentList(resource, list(cluster, call, query), form, table) })
    case 'create':
      if (resource.namespaced && !call.namespace) throw methodNotAllowed()
      return reply.send(one(await create(cluster, call, parseObject(resource, type, text))))
    case 'update':
      if (!call.name) throw badRequest('name must be provided')
      return reply.send(one(await update(cluster, call, parseObject(resource, type, text))))
    case 'patch':
      return reply.send(one(await patch(cluster, call, type, parsePatch(patchTypesOf(resource), type, text))))
    case 'delete':
      return reply.send(await removeOne(cluster, call, parseOptions(text), query, one))
    case 'deletecollection':
      return reply.send({
        code: 200,
        body: presentList(resource, await removeAll(cluster, call, parseOptions(text), query), form, table)
      })
    default:
      throw methodNotAllowed()
  }
}

// For a collection the name is only what a field selector asked for.
const nameOf = ({ verb, name }: RequestInfo): string => (['list', 'watch', 'deletecollection'].includes(verb) ? '' : name)

const parseOptions = (text: string): unknown => (text === '' ? {} : JSON.parse(text))

function read({ store }: Cluster, { resource, namespace, name }: Call, query: URLSearchParams): KubeObject {
  const asked = parseRevision(query.get('resourceVersion') || '0')
  if (asked > store.revision) throw tooLargeRevision(asked, store.revision)
  const found = store.get(resource.shelf, namespace, name)
  if (!found) throw notFound(resource, name)
  return present(resource, found)
}

async function removeOne(
  cluster: Cluster,
  call: Call,
  body: unknown,
  query: URLSearchParams,
  one: (written: Written) => Answer
): Promise<Answer> {
  const { object, gone } = await remove(cluster, optionsOf(call, body), deleteOptions(body, query))
  return gone ? { code: 200, body: deletedStatus(call, object), warnings: call.warnings } : one({ object, created: false })
}

/** A delete may ask for a dry run in its body. */
const optionsOf = (call: Call, body: unknown): Call =>
  fieldsOf(body).dryRun === undefined ? call : { ...call, options: { ...call.options, dryRun: true } }

async function removeAll(cluster: Cluster, call: Call, body: unknown, query: URLSearchParams): ReturnType<typeof removed> {
  return removed(cluster, optionsOf(call, body), body, query)
}

async function removed(cluster: Cluster, call: Call, body: unknown, query: URLSearchParams) {
  const matches = selection(call, query)
  const items: KubeObject[] = []
  for (const object of cluster.store.list(call.resource.shelf).filter(each => matches(present(call.resource, each)))) {
    const { namespace = '', name } = object.metadata
    const result = await remove(cluster, { ...call, namespace, name }, deleteOptions(body, query)).catch(ignoreGone)
    if (result) items.push(result.gone ? present(call.resource, object) : result.object)
  }
  return { items, metadata: { resourceVersion: String(cluster.store.revision), continue: '' } }
}

// Somebody else was faster.
function ignoreGone(err: unknown): undefined {
  if (!(err instanceof ApiError && err.code === 404)) throw err
}

function issueToken({ cluster, tokens }: Server, { resource, namespace, name }: Call, text: string): Answer {
  const account = cluster.store.get(resource.shelf, namespace, name)
  if (!account) throw notFound(resource, name)
  const body = fieldsOf(parseObject(resource, 'application/json', text))
  const spec: Fields = fieldsOf(body.spec)
  const status = tokens.issue(account, spec, boundTo(cluster.store, account, spec.boundObjectRef))
  return {
    code: 201,
    body: { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata: { name, namespace }, spec, status }
  }
}
