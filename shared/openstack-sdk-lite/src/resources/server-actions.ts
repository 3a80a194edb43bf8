// What can be done to a server: POST /servers/{server}/action, where the first key of the body is the name of the action.
import { type Answer, call, type Call, nothing, type Send, type Version } from '../call.ts'
import { row, text } from '../decode.ts'

interface ActionRow<Out> {
  name: string
  row: string
  since?: Version
  until?: Version
  ok: readonly number[]
  decode: (answer: Answer) => Out
}

const action = <Out>(given: ActionRow<Out>): Call<'/servers/{server}/action', Out> =>
  call({ ...given, name: `servers.${given.name}`, service: 'compute', method: 'POST', path: '/servers/{server}/action' })

export const consoleOutput = call({
  ...action({ name: 'consoleOutput', row: 'C8', ok: [200], decode: ({ body }) => text(row(body), 'output') }),
  repeatable: true
})
export const liveMigrate = action({ name: 'liveMigrate', row: 'C14', since: '2.68', ok: [202], decode: nothing })
export const migrate = action({ name: 'migrate', row: 'C15', since: '2.56', ok: [202], decode: nothing })
export const confirmResize = action({ name: 'confirmResize', row: 'C19', ok: [204], decode: nothing })
export const shelveOffload = action({ name: 'shelveOffload', row: 'C21', ok: [202], decode: nothing })
export const resume = action({ name: 'resume', row: 'C22', ok: [202], decode: nothing })
export const suspend = action({ name: 'suspend', row: 'C22', ok: [202], decode: nothing })
export const resetState = action({ name: 'resetState', row: 'C22', ok: [202], decode: nothing })
// from 2.95 on an evacuated server stays stopped on its new host
export const evacuate = action({ name: 'evacuate', row: 'C23', since: '2.68', until: '2.94', ok: [200], decode: nothing })
export const reboot = action({ name: 'reboot', row: 'C24', ok: [202], decode: nothing })
export const start = action({ name: 'start', row: 'C24', ok: [202], decode: nothing })

/** 202 means "heard", never "done": whether a move happened is told by the server's host and its migration record. */
export interface ServerActions {
  consoleOutput(server: string, lines: number): Promise<string>
  liveMigrate(server: string, target?: string): Promise<void>
  migrate(server: string, target?: string): Promise<void>
  confirmResize(server: string): Promise<void>
  shelveOffload(server: string): Promise<void>
  resume(server: string): Promise<void>
  suspend(server: string): Promise<void>
  resetState(server: string, state: 'active' | 'error'): Promise<void>
  evacuate(server: string, target?: string): Promise<void>
  reboot(server: string, how: 'HARD' | 'SOFT'): Promise<void>
  start(server: string): Promise<void>
}

export function serverActions(send: Send): ServerActions {
  return {
    consoleOutput: (server, lines) => send(consoleOutput, { server }, { body: { 'os-getConsoleOutput': { length: lines } } }),
    liveMigrate: (server, target) =>
      send(liveMigrate, { server }, { body: { 'os-migrateLive': { host: target ?? null, block_migration: 'auto' } } }),
    migrate: (server, target) => send(migrate, { server }, { body: { migrate: target ? { host: target } : null } }),
    confirmResize: server => send(confirmResize, { server }, { body: { confirmResize: null } }),
    shelveOffload: server => send(shelveOffload, { server }, { body: { shelveOffload: null } }),
    resume: server => send(resume, { server }, { body: { resume: null } }),
    suspend: server => send(suspend, { server }, { body: { suspend: null } }),
    resetState: (server, state) => send(resetState, { server }, { body: { 'os-resetState': { state } } }),
    evacuate: (server, target) => send(evacuate, { server }, { body: { evacuate: target ? { host: target } : {} } }),
    reboot: (server, how) => send(reboot, { server }, { body: { reboot: { type: how } } }),
    start: server => send(start, { server }, { body: { 'os-start': null } })
  }
}
