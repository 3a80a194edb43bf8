// What is published: built, packed, unpacked elsewhere, imported without any of our settings
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const root = join(import.meta.dirname, '..', '..')
const { env } = process
/** Without NODE_OPTIONS: our own condition must not help, and tap puts its hooks there for every child, which TypeScript's tsc cannot bear. */
const run = (command: string, args: string[], options: { cwd: string }) =>
  promisify(execFile)('env', ['-u', 'NODE_OPTIONS', command, ...args], options)

t.test('the package, as somebody else gets it', async t => {
  const dir = await mkdtemp(join(tmpdir(), 'pack-'))
  t.teardown(() => rm(dir, { recursive: true }))
  const pack = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', dir, '-w', 'shared/openstack-sdk-lite']
  const { stdout } = await run('npm', pack, { cwd: root })
  const [{ files, filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { files: Array<{ path: string }>; filename: string }
  ]

  await t.test('holds what belongs, and nothing else', async t => {
    const outside = files.map(({ path }) => path).filter(path => !/^dist\/.*\.(js|d\.ts)$/.test(path))
    t.strictSame(outside.toSorted(), ['LICENSE', 'README.md', 'package.json'])
    t.ok(files.some(({ path }) => path === 'dist/index.js'))
  })

  // unpacked, not installed: npm would ask a registry for what axios needs
  const modules = join(dir, 'node_modules')
  const home = join(modules, 'openstack-sdk-lite')
  await mkdir(home, { recursive: true })
  await run('tar', ['-xzf', join(dir, filename), '-C', home, '--strip-components=1'], { cwd: dir })
  const { dependencies } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { dependencies: object }
  for (const name of Object.keys(dependencies)) await symlink(join(root, 'node_modules', name), join(modules, name))
  await writeFile(join(dir, 'package.json'), '{ "type": "module" }')

  await t.test('runs under plain Node, the older one of this machine too', async t => {
    await writeFile(
      join(dir, 'main.js'),
      `import { calls, connect, fromCloudsYaml, fromEnv } from 'openstack-sdk-lite'
       const env = { OS_AUTH_URL: 'http://127.0.0.1:1/v3', OS_USERNAME: 'u', OS_PASSWORD: 'p', OS_PROJECT_NAME: 'x' }
       const retry = { repeats: 0, firstWaitMs: 0, factor: 1, longestWaitMs: 0, jitter: 0 }
       const cloud = await connect({ ...fromEnv(env), retry })
       const code = await cloud.aggregates.list().catch(err => err.code)
       const { region } = fromCloudsYaml('clouds: { c: { region_name: r, auth: { auth_url: "http://x", username: u, password: p } } }')
       console.log(code, region, calls.length > 40)`
    )
    const others = (env['PATH'] ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'))
    const nodes = [process.execPath, ...others.map(folder => join(folder, 'node')).filter(file => existsSync(file))]
    const runs = nodes.map(node => run(node, ['main.js'], { cwd: dir }))
    for (const result of await Promise.all(runs)) t.equal(result.stdout, 'ConnectFailed r true\n')
  })

  await t.test('its types are of use', async t => {
    await writeFile(
      join(dir, 'main.ts'),
      `import { connect, fromEnv, OpenStackError, type ErrorCode } from 'openstack-sdk-lite'
       const cloud = await connect(fromEnv({}))
       const names: string[] = (await cloud.hypervisors.list()).map(({ hostname }) => hostname)
       for await (const { id, host } of cloud.servers.stream({ host: names[0] ?? '' })) console.log(id, host)
       // @ts-expect-error an id is needed
       await cloud.servers.delete()
       // @ts-expect-error no such code
       export const code: ErrorCode = 'Whatever'
       export const isGone = (err: unknown) => err instanceof OpenStackError && err.code === 'NotFound'`
    )
    const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node', '--lib', 'es2024,esnext.disposable']
    const checked = run(
      join(root, 'node_modules/.bin/tsc'),
      ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', ...types, 'main.ts'],
      { cwd: dir }
    )
    await t.resolves(checked.catch(err => Promise.reject(new Error(err.stdout))))
  })
})
