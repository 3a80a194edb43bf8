import t from 'tap'
import { dial, parseRemote, remoteText } from '../../shared/ovsdb-client/src/remote.ts'

const good: Array<[text: string, remote: object]> = [
  ['unix:/run/openvswitch/db.sock', { kind: 'unix', path: '/run/openvswitch/db.sock' }],
  ['tcp:127.0.0.1:6642', { kind: 'tcp', host: '127.0.0.1', port: 6642 }],
  ['tcp:db.example', { kind: 'tcp', host: 'db.example', port: 6640 }],
  ['ssl:[fd00::1]:6641', { kind: 'ssl', host: 'fd00::1', port: 6641 }]
]
for (const [text, remote] of good) t.test(text, async t => t.strictSame(parseRemote(text), remote))

for (const text of [
  '',
  'unix:',
  'tcp:',
  'tcp:::1:6640',
  'ptcp:6640',
  'tcp:host:port',
  'tcp:host:99999',
  '/run/db.sock',
  'ssl:[::1'
]) {
  t.test(`"${text}" is no remote`, async t => t.throws(() => parseRemote(text), { code: 'notation' }))
}

t.test('is written as it is read', async t => t.equal(remoteText(parseRemote('tcp:db.example')), 'tcp:db.example:6640'))

t.test('nobody there', async t => {
  const { signal } = new AbortController()
  await t.rejects(dial({ kind: 'unix', path: '/nonexistent/db.sock' }, {}, signal), {
    code: 'connect-failed',
    cause: { code: 'ENOENT' }
  })
})

t.test('given up before it began', async t => {
  const remote = parseRemote('unix:/nonexistent/db.sock')
  await t.rejects(dial(remote, {}, AbortSignal.abort(new Error('enough'))), {
    code: 'connect-failed',
    cause: { message: 'enough' }
  })
})
