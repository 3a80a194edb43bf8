// The same corpus on the real API server: its verdict must be that of the validator (corpus.test.ts), and for the same field.
import t from 'tap'
import { type Cluster, ownKubernetes } from '../servers/kubernetes.ts'
import { type Answer, request } from '../servers/request.ts'
import { type Case, corpus, type Sample } from './corpus.ts'

const strict = 'fieldValidation=Strict'

/** What one case asks of the API server, at an address of its own. */
function writer(api: Cluster, { kind }: Case) {
  const { group, version, plural, namespaced } = kind
  const list = `/apis/${group}/${version}/${namespaced ? `namespaces/${api.namespace}/` : ''}${plural}`
  const moved = (object: Sample): Sample => ({
    ...object,
    metadata: {
      ...object.metadata,
      // An OVSNode is bound to its name, and has a namespace of this file's own; what has none gets a name of its own.
      ...(namespaced ? { namespace: api.namespace } : { name: `${api.namespace}-${object.metadata.name}` })
    }
  })
  const at = (object: Sample, subresource = '') => `${list}/${object.metadata.name}${subresource}`
  return {
    moved,
    create: (object: Sample) => request<Sample>(api, 'POST', `${list}?${strict}`, object),
    update: (object: Sample, subresource?: string) => request<Sample>(api, 'PUT', `${at(object, subresource)}?${strict}`, object),
    read: (object: Sample) => request<Sample>(api, 'GET', at(object)),
    remove: (object: Sample) => request(api, 'DELETE', at(object)),
    apply: (object: Sample, subresource?: string) =>
      request<Sample>(api, 'PATCH', `${at(object, subresource)}?fieldManager=corpus&force=true&${strict}`, object, {
        'content-type': 'application/apply-patch+yaml'
      })
  }
}

type Writer = ReturnType<typeof writer>

/** Writes an object whole: spec, then status. The first refusal is the answer. */
async function store(to: Writer, object: Sample, old: Sample | undefined): Promise<Answer<Sample>> {
  const before = old && (await store(to, old, undefined))
  const { metadata } = object
  const written = before
    ? await to.update({ ...object, metadata: { ...metadata, resourceVersion: before.body.metadata.resourceVersion ?? '' } })
    : await to.create(object)
  if (written.status >= 300 || object.status === undefined) return written
  const { resourceVersion = '' } = written.body.metadata
  return to.update({ ...object, metadata: { ...metadata, resourceVersion } }, '/status')
}

const withoutBookkeeping = ({ metadata, ...rest }: Sample) => {
  const { managedFields: _, resourceVersion: __, ...kept } = metadata
  return { ...rest, metadata: kept }
}

t.test('the real API server', async t => {
  const api = await ownKubernetes(t) // on a shared one, the function of another test may write the status of an Eviction meanwhile

  for (const one of corpus('valid')) {
    await t.test(one.name, async t => {
      const to = writer(api, one)
      const object = to.moved(one.object)
      t.teardown(() => to.remove(object))
      const { status, body } = await store(to, object, one.old && to.moved(one.old))
      t.ok(status < 300, 'is taken', { body })

      const stored = (await to.read(object)).body
      t.match(stored.status ?? {}, object.status ?? {}, 'with its status')
      const sent = withoutBookkeeping(stored)
      t.equal((await to.apply(sent)).status, 200)
      if (stored.status) t.equal((await to.apply(sent, '/status')).status, 200)
      t.strictSame(withoutBookkeeping((await to.read(object)).body), sent, 'HV-2: read-then-apply gives no difference')
    })
  }

  for (const one of corpus('invalid')) {
    await t.test(one.name, async t => {
      const to = writer(api, one)
      const object = to.moved(one.object)
      t.teardown(() => to.remove(object))
      const { status, body } = await store(to, object, one.old && to.moved(one.old))
      t.ok(status === 400 || status === 422, 'is refused', { status, body })
      t.ok(JSON.stringify(body).includes(one.path ?? ''), `names ${one.path}`, { body })
    })
  }
})
