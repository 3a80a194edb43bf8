// What is published: built, packed, installed elsewhere, imported without any of our settings
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
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
  const pack = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', dir, '-w', 'shared/node-libvirt']
  const { stdout } = await run('npm', pack, { cwd: root })
  const [{ files, filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { files: Array<{ path: string }>; filename: string }
  ]

  await t.test('holds what belongs, and nothing else', async t => {
    const outside = files.map(({ path }) => path).filter(path => !/^dist\/.*\.(js|d\.ts)$/.test(path))
    t.strictSame(outside.toSorted(), ['LICENSE', 'README.md', 'package.json'])
    t.ok(files.some(({ path }) => path === 'dist/index.js'))
  })

  await writeFile(join(dir, 'package.json'), '{ "type": "module" }')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(dir, filename)], { cwd: dir })

  await t.test('runs under plain Node, the older one of this machine too', async t => {
    await writeFile(
      join(dir, 'main.js'),
      `import { connect, procedures, eventKinds } from 'node-libvirt'
       const code = await connect('qemu+unix:///system?socket=/nonexistent').catch(err => err.code)
       console.log(code, procedures.domainGetState.number, eventKinds.length, Number(process.versions.node.split('.')[0]) >= 20)`
    )
    const others = (env['PATH'] ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'))
    const nodes = [process.execPath, ...others.map(folder => join(folder, 'node')).filter(file => existsSync(file))]
    const runs = nodes.map(node => run(node, ['main.js'], { cwd: dir }))
    for (const result of await Promise.all(runs)) t.equal(result.stdout, 'connect 212 26 true\n')
  })

  await t.test('its types are of use', async t => {
    await writeFile(
      join(dir, 'main.ts'),
      `import { connect, procedures, type DomainEvent } from 'node-libvirt'
       const virt = await connect('qemu:///system')
       const version: bigint = await virt.call(procedures.connectGetLibVersion)
       const [domain] = await virt.domains()
       if (domain) for (const { field } of (await virt.call(procedures.domainGetJobStats, { domain })).params) console.log(field, version)
       for await (const event of await virt.subscribe(['watchdog'])) if (event.kind === 'watchdog') console.log(event.action)
       // @ts-expect-error a domain is needed
       await virt.call(procedures.domainGetState)
       // @ts-expect-error not subscribed to
       for await (const event of await virt.subscribe(['watchdog'])) if (event.kind === 'reboot') console.log(event)
       export type Detail<E> = E extends DomainEvent & { kind: 'lifecycle'; event: 'stopped' } ? E['detail'] : never`
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
