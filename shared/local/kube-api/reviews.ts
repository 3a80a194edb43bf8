// The kinds that are questions: they are answered, not stored.
import type { User } from './cluster.ts'
import { fieldsOf, listOf, text, type Fields } from './object.ts'
import { isAllowed, type Attributes } from './rbac.ts'
import type { Store } from './store.ts'
import type { Tokens } from './tokens.ts'

export interface Question {
  group: string
  resource: string
  kind: string
  answer(context: { store: Store; tokens: Tokens; user: User }, spec: Fields): Fields
}

function attributesOf(spec: Fields): Attributes {
  const asked = fieldsOf(spec.resourceAttributes)
  const plain = spec.resourceAttributes === undefined ? fieldsOf(spec.nonResourceAttributes) : undefined
  return {
    verb: text((plain ?? asked).verb),
    group: text(asked.group),
    resource: text(asked.resource),
    subresource: text(asked.subresource),
    namespace: text(asked.namespace),
    name: text(asked.name),
    path: plain && text(plain.path)
  }
}

const userOf = ({ user, uid, groups, extra }: Fields): User => ({
  username: text(user),
  uid: text(uid),
  groups: listOf(groups).map(text),
  extra: fieldsOf(extra) as Record<string, string[]>
})

export const questions: Question[] = [
  {
    group: 'authentication.k8s.io',
    resource: 'tokenreviews',
    kind: 'TokenReview',
    answer({ tokens }, spec) {
      const found = tokens.review(text(spec.token), listOf(spec.audiences).map(text))
      if (found) return { authenticated: true, user: found.user, audiences: found.audiences }
      return { user: {}, error: '[invalid bearer token, token lookup failed]' }
    }
  },
  {
    group: 'authentication.k8s.io',
    resource: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    answer: ({ user }) => ({ userInfo: user })
  },
  {
    group: 'authorization.k8s.io',
    resource: 'subjectaccessreviews',
    kind: 'SubjectAccessReview',
    answer: ({ store }, spec) => ({ allowed: isAllowed(store, userOf(spec), attributesOf(spec)) })
  },
  {
    group: 'authorization.k8s.io',
    resource: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    answer: ({ store, user }, spec) => ({ allowed: isAllowed(store, user, attributesOf(spec)) })
  }
]
