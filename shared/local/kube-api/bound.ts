// Tokens that are bound to a pod, a node or a secret: they say so, and end with it.
import { at, fieldsOf, shown, text, type Fields, type KubeObject } from './object.ts'
import { badRequest, conflict, notFound } from './status.ts'
import type { Store } from './store.ts'

const shelves: Record<string, string> = { Pod: '/pods', Node: '/nodes', Secret: '/secrets' }

const find = (store: Store, kind: string, namespace: string, name: string): KubeObject | undefined =>
  store.get(shelves[kind] ?? '', kind === 'Node' ? '' : namespace, name)

const claim = ({ metadata: { name, uid } }: KubeObject): Fields => ({ name, uid })

/** What the claims of a token say of the object that a TokenRequest names. */
export function boundTo(store: Store, { metadata: { name: account, namespace = '' } }: KubeObject, reference: unknown): Fields {
  if (reference === undefined) return {}
  const { kind, name, uid, apiVersion } = fieldsOf(reference)
  const shelf = shelves[text(kind)]
  if (!shelf || (apiVersion !== undefined && apiVersion !== 'v1'))
    throw badRequest(`cannot bind token to object of type ${shown(apiVersion ?? '')}, Kind=${shown(kind)}`)
  const object = find(store, text(kind), namespace, text(name))
  if (!object) throw notFound({ group: '', plural: shelf.slice(1), kind: text(kind) }, text(name))
  if (kind === 'Pod' && (at(object, 'spec', 'serviceAccountName') ?? 'default') !== account)
    throw badRequest(`cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`)
  if (text(uid) && uid !== object.metadata.uid)
    throw conflict(
      { group: '', plural: text(kind), kind: text(kind) },
      text(name),
      `the UID in the bound object reference (${text(uid)}) does not match the UID in record. The object might have been deleted and then recreated`
    )
  return { [text(kind).toLowerCase()]: claim(object), ...(kind === 'Pod' && nodeOf(store, object)) }
}

/** A pod's token names its node too, whether that is there or not. */
function nodeOf(store: Store, pod: KubeObject): Fields {
  const name = text(at(pod, 'spec', 'nodeName'))
  const node = find(store, 'Node', '', name)
  return name ? { node: node ? claim(node) : { name } } : {}
}

/** Whether that which the claims name is still there, and the same. A pod's node may go. */
export function isStillBound(store: Store, namespace: string, { secret, pod, node }: Fields): boolean {
  const same = (kind: string, named: unknown): boolean => {
    const { name, uid } = fieldsOf(named)
    return uid === undefined || find(store, kind, namespace, text(name))?.metadata.uid === uid
  }
  return same('Secret', secret) && (pod === undefined ? same('Node', node) : same('Pod', pod))
}
