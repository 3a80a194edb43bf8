// What goes to Nova when something is done to a server: a wrong key of the body would be another action.
import t from 'tap'
import type { Call, Send } from '../../shared/openstack-sdk-lite/src/call.ts'
import { type ServerActions, serverActions } from '../../shared/openstack-sdk-lite/src/resources/server-actions.ts'

type Do = (actions: ServerActions) => Promise<unknown>
const rows: Array<[name: string, row: string, ok: number, act: Do, body: unknown, versions?: string]> = [
  ['consoleOutput', 'C8', 200, nova => nova.consoleOutput('s', 50), { 'os-getConsoleOutput': { length: 50 } }],
  [
    'liveMigrate',
    'C14',
    202,
    nova => nova.liveMigrate('s'),
    { 'os-migrateLive': { host: null, block_migration: 'auto' } },
    '2.68-'
  ],
  [
    'liveMigrate',
    'C14',
    202,
    nova => nova.liveMigrate('s', 'b'),
    { 'os-migrateLive': { host: 'b', block_migration: 'auto' } },
    '2.68-'
  ],
  ['migrate', 'C15', 202, nova => nova.migrate('s'), { migrate: null }, '2.56-'],
  ['migrate', 'C15', 202, nova => nova.migrate('s', 'b'), { migrate: { host: 'b' } }, '2.56-'],
  ['confirmResize', 'C19', 204, nova => nova.confirmResize('s'), { confirmResize: null }],
  ['shelveOffload', 'C21', 202, nova => nova.shelveOffload('s'), { shelveOffload: null }],
  ['resume', 'C22', 202, nova => nova.resume('s'), { resume: null }],
  ['suspend', 'C22', 202, nova => nova.suspend('s'), { suspend: null }],
  ['resetState', 'C22', 202, nova => nova.resetState('s', 'error'), { 'os-resetState': { state: 'error' } }],
  // from 2.95 on an evacuated server would stay stopped (HA-32)
  ['evacuate', 'C23', 200, nova => nova.evacuate('s'), { evacuate: {} }, '2.68-2.94'],
  ['evacuate', 'C23', 200, nova => nova.evacuate('s', 'b'), { evacuate: { host: 'b' } }, '2.68-2.94'],
  ['reboot', 'C24', 202, nova => nova.reboot('s', 'HARD'), { reboot: { type: 'HARD' } }],
  ['start', 'C24', 202, nova => nova.start('s'), { 'os-start': null }]
]
for (const [name, row, ok, act, body, versions = '-'] of rows) {
  t.test(`${row}: ${name}`, async t => {
    const sent: Array<{ call: Call<string, unknown>; params: unknown; extra: unknown }> = []
    const send = (async (call: Call<string, unknown>, params: unknown, extra: unknown) =>
      void sent.push({ call, params, extra })) as Send
    await act(serverActions(send))
    const [{ call, params, extra } = t.fail('nothing was sent') as never] = sent
    t.equal(sent.length, 1)
    const { decode, since = '', until = '', ...rest } = call
    t.strictSame(rest, {
      name: `servers.${name}`,
      row,
      service: 'compute',
      method: 'POST',
      path: '/servers/{server}/action',
      ok: [ok],
      ...(name === 'consoleOutput' && { repeatable: true })
    })
    t.equal(`${since}-${until}`, versions)
    t.strictSame([params, extra], [{ server: 's' }, { body }])
    const answer = decode({ status: ok, body: { output: 'login:' }, headers: {} })
    t.equal(answer, name === 'consoleOutput' ? 'login:' : undefined)
  })
}
