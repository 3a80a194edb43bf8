// What `npm start` cannot do is told in one line that says what to do.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startPlatform, type PlatformOptions } from '../../shared/local/platform.ts'
import { start } from './start.ts'

t.setTimeout(120_000)
const folder = mkdtempSync(join(tmpdir(), 'drover-start-'))
t.teardown(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'broken'), 'not: [a kubeconfig')
const nobody = {
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }]
}
writeFileSync(
  join(folder, 'nobody'),
  JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...nobody, users: [{ name: 'u', user: {} }], 'current-context': 'c' })
)

const typo = join(folder, 'typo')
const noYaml = join(folder, 'no-yaml')
const trigger =
  '{ apiVersion: eventing.knative.dev/v1, kind: Trigger, metadata: { name: t, namespace: drover }, spec: { fliter: {} } }'
for (const [place, text] of [[typo, trigger] as const, [noYaml, 'a: [b'] as const]) {
  mkdirSync(place)
  writeFileSync(join(place, 'broker.yaml'), text)
}

const taken = createServer().listen(0, '127.0.0.1')
t.teardown(() => taken.close())
await new Promise(resolve => taken.once('listening', resolve))
const { port } = taken.address() as { port: number }

const spoken: Array<[name: string, args: string[], said: RegExp]> = [
  ['an unknown option', ['--nope'], /Unknown option '--nope'/],
  ['a port that is none', ['--port', 'high'], /--port is a number from 0 to 65535, not high/],
  ['a port that is too high', ['--page-port', '70000'], /--page-port is a number from 0 to 65535, not 70000/],
  ['a log format that does not exist', ['--log', 'xml'], /--log is brief, text, json; not xml/],
  ['a port in use', ['--functions', 'hypervisor', '--port', String(port)], /EADDRINUSE.*choose another port with --port/],
  [
    'a port of the page in use',
    ['--functions', 'console', '--empty', '--page-port', String(port)],
    /EADDRINUSE.*choose another port with --port or --page-port/
  ]
]
for (const [name, args, said] of spoken) {
  t.test(`${name}: one line that says what to do`, async t => {
    const drover = start(t, ...args)
    t.equal(await drover.exited, 1)
    t.match(drover.output(), said)
    t.equal(drover.output().trim().split('\n').length, 1)
  })
}

// The rest without a process each: `main.ts` prints what is thrown here.
process.env['HOME'] = folder
for (const name of Object.keys(process.env)) if (name.startsWith('OS_')) delete process.env[name]
const refusals: Array<[name: string, options: Partial<PlatformOptions>, said: RegExp]> = [
  ['a kubeconfig that is not there', { kubeconfig: join(folder, 'absent') }, /absent/],
  ['a kubeconfig that is broken', { kubeconfig: join(folder, 'broken') }, /broken/],
  ['a cluster that does not answer', { kubeconfig: join(folder, 'nobody') }, /no answer from the API server.*ECONNREFUSED/],
  ['a function that does not exist', { functions: ['hypervisor', 'nope'] }, /there is no function nope; there are .*hypervisor/],
  ['wiring with a typo', { knative: typo }, /typo\/broker\.yaml.*Trigger drover\/t.*fliter/],
  ['wiring that is no YAML', { knative: noYaml }, /broker\.yaml is not YAML: /],
  ['wiring that is not there', { knative: join(folder, 'nowhere') }, /nowhere/],
  ['a cloud without a clouds.yaml', { osCloud: 'nope' }, /--os-cloud nope: there is no clouds\.yaml.*OS_CLIENT_CONFIG_FILE/],
  ['a cloud of an empty environment', { osCloud: 'env' }, /--os-cloud env: OS_AUTH_URL is not in the environment/]
]
for (const [name, options, said] of refusals) {
  t.test(`${name}: an error of one line`, async t => {
    const refused = startPlatform({ functions: ['hypervisor'], logs: { write: () => {} }, ...options })
    const { message } = (await refused.then(
      () => t.fail('it started'),
      (err: Error) => err
    )) as Error
    t.match(message, said)
    t.notMatch(message, '\n')
  })
}

t.test('--help', async t => {
  const drover = start(t, '--help')
  t.equal(await drover.exited, 0)
  for (const option of ['--demo', '--kubeconfig', '--state', '--port', '--page-port', '--functions', '--log'])
    t.match(drover.output(), option)
})
