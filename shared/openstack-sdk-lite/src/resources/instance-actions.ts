// What was done to a server, by whom, and how it ended: C18.
import { call, type Send } from '../call.ts'
import { child, row, type Row, rows, text, textOrNull } from '../decode.ts'

export interface InstanceAction {
  requestId: string
  action: string
  server: string
  /** null: Nova itself, as when it notices that a guest has stopped */
  userId: string | null
  projectId: string | null
  started: string
  updated: string | null
  /** `Error` when one of its steps failed */
  message: string | null
}

export interface ActionStep {
  event: string
  /** Success, Error; null while it runs */
  result: string | null
  host: string | null
  /** the reason of a failure, for people */
  details: string | null
  started: string
  finished: string | null
}

export const listActions = call({
  name: 'instanceActions.list',
  row: 'C18',
  service: 'compute',
  method: 'GET',
  path: '/servers/{server}/os-instance-actions',
  since: '2.84',
  ok: [200],
  decode: ({ body }) => rows(row(body), 'instanceActions').map(decodeAction)
})

export const getAction = call({
  name: 'instanceActions.get',
  row: 'C18',
  service: 'compute',
  method: 'GET',
  path: '/servers/{server}/os-instance-actions/{request}',
  since: '2.84', // the details of a failed step
  ok: [200],
  decode: ({ body }) => {
    const action = child(row(body), 'instanceAction')
    return { ...decodeAction(action), steps: rows(action, 'events').map(decodeStep) }
  }
})

export interface InstanceActions {
  list(server: string): Promise<InstanceAction[]>
  get(server: string, request: string): Promise<InstanceAction & { steps: ActionStep[] }>
}

export function instanceActions(send: Send): InstanceActions {
  return {
    list: server => send(listActions, { server }),
    get: (server, request) => send(getAction, { server, request })
  }
}

function decodeAction(from: Row): InstanceAction {
  return {
    requestId: text(from, 'request_id'),
    action: text(from, 'action'),
    server: text(from, 'instance_uuid'),
    userId: textOrNull(from, 'user_id'),
    projectId: textOrNull(from, 'project_id'),
    started: text(from, 'start_time'),
    updated: textOrNull(from, 'updated_at'),
    message: textOrNull(from, 'message')
  }
}

function decodeStep(from: Row): ActionStep {
  return {
    event: text(from, 'event'),
    result: textOrNull(from, 'result'),
    host: textOrNull(from, 'host'),
    details: textOrNull(from, 'details'),
    started: text(from, 'start_time'),
    finished: textOrNull(from, 'finish_time')
  }
}
