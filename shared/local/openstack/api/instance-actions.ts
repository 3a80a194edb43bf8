// Nova: what was done to a server. It can be read even when the server is gone.
import { nova } from '../http/refusal.ts'
import { type Incoming, iso, isoOrNull, param, type Route, since } from '../http/request.ts'
import type { ActionRecord, Instance, StepRecord, World } from '../world/world.ts'

export const instanceActionRoutes: Route[] = [
  {
    service: 'compute',
    method: 'GET',
    path: '/servers/{server}/os-instance-actions',
    handle(world, request) {
      const instance = find(world, request)
      return { status: 200, body: { instanceActions: instance.actions.map(action => show(instance, action, request)) } }
    }
  },
  {
    service: 'compute',
    method: 'GET',
    path: '/servers/{server}/os-instance-actions/{request}',
    handle(world, request) {
      const instance = find(world, request)
      const id = param(request, 'request')
      const action = instance.actions.find(({ requestId }) => requestId === id)
      if (!action) throw nova(404, `Action for request_id ${id} on instance ${instance.id} not found`)
      return {
        status: 200,
        body: {
          instanceAction: { ...show(instance, action, request), events: action.steps.map(step => showStep(step, request)) }
        }
      }
    }
  }
]

function find(world: World, request: Incoming): Instance {
  const id = param(request, 'server')
  const found = world.instances.get(id) ?? world.deleted.get(id)
  if (!found) throw nova(404, `Instance ${id} could not be found.`)
  return found
}

const show = (
  { id }: Instance,
  { requestId, action, userId, projectId, startedMs, updatedMs, message }: ActionRecord,
  request: Incoming
): object => ({
  action,
  instance_uuid: id,
  request_id: requestId,
  user_id: userId,
  project_id: projectId,
  start_time: iso(startedMs),
  ...since(request, 58, { updated_at: iso(updatedMs) }),
  message
})

const showStep = ({ event, result, host, details, startedMs, finishedMs }: StepRecord, request: Incoming): object => ({
  event,
  result,
  ...since(request, 62, { host }),
  ...since(request, 84, { details }),
  start_time: iso(startedMs),
  finish_time: isoOrNull(finishedMs),
  traceback: null
})
