// What is published: built, packed, installed elsewhere, imported without any of our settings
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

/** Our own condition must not help, and the test runner must not load itself into every Node below, which now and then fails there. */
const plainly = (command: string, args: readonly string[], cwd: string) =>
  run('env', ['--unset=NODE_OPTIONS', command, ...args], { cwd })

t.test('the package, as somebody else gets it', async t => {
  const dir = await mkdtemp(join(tmpdir(), 'pack-'))
  t.teardown(() => rm(dir, { recursive: true }))
  const pack = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', dir, '-w', 'shared/ovsdb-client']
  const { stdout } = await plainly('npm', pack, root)
  const [{ files, filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { files: Array<{ path: string }>; filename: string }
  ]

  await t.test('holds what belongs, and nothing else', async t => {
    const outside = files.map(({ path }) => path).filter(path => !/^dist\/.*\.(js|d\.ts)$/.test(path))
    t.strictSame(outside.toSorted(), ['LICENSE', 'README.md', 'package.json'])
    t.ok(files.some(({ path }) => path === 'dist/index.js'))
  })

  await writeFile(join(dir, 'package.json'), '{ "type": "module" }')
  await plainly('npm', ['install', '--offline', '--no-audit', '--no-fund', join(dir, filename)], dir)

  await t.test('runs under plain Node', async t => {
    await writeFile(
      join(dir, 'main.js'),
      `import { open, select, column } from 'ovsdb-client'
       const db = open({ remotes: ['unix:/nonexistent'], database: 'Open_vSwitch' })
       const failed = await db.transact([select('Bridge', [], { name: column.string })], { timeoutMs: 300 }).catch(error => error)
       await db.close()
       console.log(failed.name, failed.code, failed.cause.code, db.status.state)`
    )
    const { stdout } = await plainly(process.execPath, ['main.js'], dir)
    t.equal(stdout, 'OvsdbError timeout connect-failed closed\n')
  })

  await t.test('its types are of use', async t => {
    await writeFile(
      join(dir, 'main.ts'),
      `import { column, insert, open, select, type Row } from 'ovsdb-client'
       const db = open({ remotes: ['unix:/run/openvswitch/db.sock'], database: 'Open_vSwitch' })
       const bridge = { name: column.string, ports: column.set(column.uuid), fail_mode: column.optional(column.string) } as const
       const [{ rows }, { uuid }] = await db.transact([select('Bridge', [], bridge), insert('Bridge', { name: 'br0' })])
       const first: Row<typeof bridge> | undefined = rows[0]
       const text: string = uuid + (first?.fail_mode ?? '')
       for await (const news of db.monitor({ Bridge: bridge }).changes()) if (news.kind === 'lost') console.log(news.cause.code, text)
       // @ts-expect-error no such table was asked for
       db.monitor({ Bridge: bridge }).rows('Port')
       // @ts-expect-error a set is no list
       first?.ports.map(String)`
    )
    const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node', '--lib', 'es2024,esnext.disposable']
    const checked = plainly(
      join(root, 'node_modules/.bin/tsc'),
      ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', ...types, 'main.ts'],
      dir
    )
    await t.resolves(checked.catch(err => Promise.reject(new Error(err.stdout))))
  })
})
