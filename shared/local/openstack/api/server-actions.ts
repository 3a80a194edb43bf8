// Nova: POST /servers/{server}/action. For each action the states it is allowed in, and what it does.
import { nova } from '../http/refusal.ts'
import { type Incoming, isObject, param, type Reply, type Route, textOf } from '../http/request.ts'
import { validate } from '../http/schema.ts'
import { isUp } from '../world/agents.ts'
import { confirm, revert, sourceOf, startCold, startEvacuation } from '../world/cold-moves.ts'
import { atHost, beginAction, step, touch } from '../world/instances.ts'
import { startLive } from '../world/live-moves.ts'
import { release } from '../world/placement.ts'
import type { Host, Instance, World } from '../world/world.ts'
import { actionSchema } from './action-schemas.ts'
import { findInstance } from './servers.ts'

interface Action {
  /** vm states in which Nova takes it; every other is 409 */
  from?: readonly string[]
  /** as Nova names it in its refusal, where that differs from the key of the body */
  called?: string
  run(world: World, instance: Instance, given: unknown, request: Incoming): Reply
}

const heard: Reply = { status: 202 }

const actions: Readonly<Record<string, Action>> = {
  'os-migrateLive': {
    from: ['active', 'paused'],
    run(world, instance, given, { requestId }) {
      const host = hostIn(given)
      if (host !== null && !world.hosts.get(host)?.serviceId) throw nova(400, `Compute host ${host} could not be found.`)
      startLive(world, instance, host, requestId)
      return heard
    }
  },
  migrate: {
    from: ['active', 'stopped'],
    run(world, instance, given, { requestId }) {
      const host = hostIn(given)
      refuseIfDown(world, world.hosts.get(instance.host ?? ''))
      if (host !== null && host === instance.host) throw nova(400, 'Cannot migrate to the host where the server exists.')
      if (host !== null && !world.hosts.get(host)?.serviceId) throw nova(400, `Compute host ${host} could not be found.`)
      startCold(world, instance, host, requestId)
      return heard
    }
  },
  confirmResize: {
    from: ['resized'],
    run(world, instance, _, { requestId }) {
      refuseIfDown(world, sourceOf(world, instance))
      confirm(world, instance, requestId)
      return { status: 204 }
    }
  },
  revertResize: {
    from: ['resized'],
    run(world, instance, _, { requestId }) {
      refuseIfDown(world, sourceOf(world, instance))
      revert(world, instance, requestId)
      return heard
    }
  },
  evacuate: {
    from: ['active', 'stopped', 'error'],
    run(world, instance, given, { requestId, version }) {
      const host = hostIn(given)
      if (host !== null && !world.hosts.get(host)?.serviceId) throw nova(404, `Compute host ${host} not found.`)
      const source = world.hosts.get(instance.host ?? '')
      if (host !== null && host === instance.host) throw nova(400, "The target host can't be the same one.")
      if (source && isUp(world, source)) throw nova(400, `Compute service of ${source.name} is still in use.`)
      startEvacuation(world, instance, { wanted: host, stopped: version >= 95, requestId })
      return version < 14 ? { status: 200, body: { adminPass: 'fake' } } : { status: 200 }
    }
  },
  'os-getConsoleOutput': {
    run(_, { console }, given) {
      const length = isObject(given) && typeof given['length'] === 'number' ? given['length'] : console.length
      return { status: 200, body: { output: console.slice(-length).join('\n') } }
    }
  },
  'os-resetState': {
    run(world, instance, given, { requestId }) {
      const state = isObject(given) ? given['state'] : undefined
      beginAction(world, instance, 'resetState', requestId)
      Object.assign(instance, { vmState: state, taskState: null })
      touch(world, instance)
      return heard
    }
  },
  'os-start': power({ name: 'start', from: ['stopped'], task: 'powering-on', to: 'active', powerState: 1 }),
  'os-stop': power({ name: 'stop', from: ['active', 'error', 'rescued'], task: 'powering-off', to: 'stopped', powerState: 4 }),
  reboot: power({
    name: 'reboot',
    from: ['active', 'stopped', 'paused', 'suspended', 'error'],
    task: 'rebooting_hard',
    to: 'active',
    powerState: 1
  }),
  suspend: power({ name: 'suspend', from: ['active', 'shutoff'], task: 'suspending', to: 'suspended', powerState: 4 }),
  resume: power({ name: 'resume', from: ['suspended'], task: 'resuming', to: 'active', powerState: 1 }),
  pause: power({ name: 'pause', from: ['active'], task: 'pausing', to: 'paused', powerState: 3 }),
  unpause: power({ name: 'unpause', from: ['paused'], task: 'unpausing', to: 'active', powerState: 1 }),
  shelve: power({
    name: 'shelve',
    from: ['active', 'stopped', 'paused', 'suspended'],
    task: 'shelving',
    to: 'shelved',
    powerState: 4
  }),
  shelveOffload: {
    from: ['shelved'],
    run(world, instance, _, { requestId }) {
      const action = beginAction(world, instance, 'shelveOffload', requestId)
      instance.taskState = 'shelving_offloading'
      atHost(world, instance, world.pace.power, () => {
        step(world, action, 'compute_shelve_offload_instance', instance.host ?? '')
        Object.assign(instance, { vmState: 'shelved_offloaded', taskState: null, powerState: 4 })
        touch(world, instance)
        world.clock.after(world.pace.settle, () => {
          instance.host = null // Nova, too, lets go of the host a moment after the state has changed
          release(world, instance.id)
          touch(world, instance)
        })
      })
      return heard
    }
  },
  lock: { run: (world, instance, _, request) => setLock(world, instance, true, request) },
  unlock: { run: (world, instance, _, request) => setLock(world, instance, false, request) }
}

export const serverActionRoutes: Route[] = [
  {
    service: 'compute',
    method: 'POST',
    path: '/servers/{server}/action',
    handle(world, request) {
      const [name = '', ...more] = Object.keys(request.body)
      const action = actions[name]
      if (more.length > 0) throw nova(400, 'Malformed request body')
      if (!action) throw nova(400, `There is no such action: ${name}`)
      validate(actionSchema(name, request.version), request.body)
      const instance = findInstance(world, param(request, 'server'))
      const cannot = (why: string): never => {
        throw nova(409, `Cannot '${action.called ?? name}' instance ${instance.id} while it is in ${why}`)
      }
      if (action.from && !action.from.includes(instance.vmState)) cannot(`vm_state ${instance.vmState}`)
      if (action.from && instance.taskState !== null && name !== 'evacuate') cannot(`task_state ${instance.taskState}`)
      return action.run(world, instance, request.body[name], request)
    }
  }
]

interface PowerChange {
  name: string
  from: readonly string[]
  task: string
  to: string
  powerState: number
}

function power({ name, from, task, to, powerState }: PowerChange): Action {
  return {
    from,
    called: name,
    run(world, instance, _, { requestId }) {
      const action = beginAction(world, instance, name, requestId)
      instance.taskState = task
      atHost(world, instance, world.pace.power, () => {
        Object.assign(instance, { vmState: to, taskState: null, powerState })
        touch(world, instance)
        step(world, action, `compute_${name}_instance`, instance.host ?? '')
      })
      return heard
    }
  }
}

/** nova/compute/api.py, check_instance_host: it does not say which host */
function refuseIfDown(world: World, host: Host | undefined): void {
  if (host && !isUp(world, host)) throw nova(409, 'Service is unavailable at this time.')
}

function setLock(world: World, instance: Instance, locked: boolean, { requestId }: Incoming): Reply {
  const name = locked ? 'lock' : 'unlock'
  step(world, beginAction(world, instance, name, requestId), `api_${name}`, 'controller')
  instance.locked = locked
  return heard
}

const hostIn = (given: unknown): string | null => (isObject(given) ? textOf(given['host']) : null)
