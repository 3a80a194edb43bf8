// Nova: server groups, as far as they keep servers together or apart.
import { nova } from '../http/refusal.ts'
import { objectIn, param, type Route } from '../http/request.ts'
import { type Schema, validate } from '../http/schema.ts'

const policies = ['anti-affinity', 'affinity', 'soft-anti-affinity', 'soft-affinity']
const name: Schema = { type: ['string'], minLength: 1, maxLength: 255 }
const group: Schema = {
  properties: { name, policy: { type: ['string'], enum: policies }, rules: { type: ['object'] } },
  required: ['name', 'policy']
}

export const serverGroupRoutes: Route[] = [
  {
    service: 'compute',
    method: 'POST',
    path: '/os-server-groups',
    handle(world, { body }) {
      validate({ properties: { server_group: group }, required: ['server_group'] }, body)
      const { name, policy } = objectIn(body, 'server_group')
      const made = { id: world.newId(), name: String(name), policy: String(policy) }
      world.groups.set(made.id, made)
      return { status: 200, body: { server_group: { ...made, members: [], rules: {} } } }
    }
  },
  {
    service: 'compute',
    method: 'DELETE',
    path: '/os-server-groups/{group}',
    handle(world, request) {
      const id = param(request, 'group')
      if (!world.groups.delete(id)) throw nova(404, `Instance group ${id} could not be found.`)
      return { status: 204 }
    }
  }
]
