// Who may import whom (style guide §2.2), so that a breach is seen and not argued about.
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

interface Import {
  file: string
  target: string
  typeOnly: boolean
  /** What it takes: `{ isIP }`, `* as x`; empty for an import of the whole. */
  clause: string
}

const root = join(import.meta.dirname, '..')
const sources = await Array.fromAsync(
  glob('{functions,agents,shared}/**/*.ts', { cwd: root, exclude: path => /node_modules|dist/.test(path) })
)
const statement = /^\s*(?:import|export)\s+(type\s+)?(?:([^'";]*?)\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm

async function importsOf(file: string): Promise<Import[]> {
  const text = await readFile(join(root, file), 'utf8')
  return [...text.matchAll(statement)].map(([, type, clause = '', from, dynamic]) => {
    const target = (from ?? dynamic) as string
    return {
      file,
      clause,
      typeOnly: type !== undefined,
      target: target.startsWith('.') ? normalize(join(dirname(file), target)) : target
    }
  })
}
const imports = (await Promise.all(sources.map(importsOf))).flat()
const outsideOf = (folder: string) => imports.filter(({ file, target }) => file.startsWith(folder) && !target.startsWith(folder))
const show = ({ file, target }: Import) => `${file} imports ${target}`

t.test('functions and agents import shared/ only, never each other', async t => {
  const own = (file: string) => `${file.split('/').slice(0, 2).join('/')}/`
  const breaches = imports.filter(
    ({ file, target }) =>
      /^(functions|agents)\//.test(file) && /^(functions|agents)\//.test(target) && !target.startsWith(own(file))
  )
  t.strictSame(breaches.map(show), [])
})

t.test('shared/ never imports functions or agents', async t => {
  t.strictSame(
    outsideOf('shared/')
      .filter(({ target }) => /^(functions|agents)\//.test(target))
      .map(show),
    []
  )
})

t.test('shared/ outside of shared/local never imports shared/local', async t => {
  const breaches = imports.filter(({ file, target }) => !file.startsWith('shared/local/') && target.startsWith('shared/local/'))
  t.strictSame(breaches.map(show), [])
})

for (const client of ['node-libvirt', 'ovsdb-client', 'openstack-sdk-lite']) {
  t.test(`${client} knows nothing but Node and its own dependencies`, async t => {
    const folder = `shared/${client}/`
    const { dependencies = {} } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as {
      dependencies?: object
    }
    const allowed = (target: string) => target.startsWith('node:') || Object.keys(dependencies).includes(target)
    t.strictSame(
      outsideOf(folder)
        .filter(({ target }) => !allowed(target))
        .map(show),
      []
    )
    const byPath = imports.filter(({ file, target }) => !file.startsWith(folder) && target.startsWith(folder))
    t.strictSame(byPath.map(show), [], 'it is imported by its name')
  })
}

t.test('only openstack-sdk-lite has axios', async t => {
  t.strictSame(
    imports.filter(({ file, target }) => target === 'axios' && !file.startsWith('shared/openstack-sdk-lite/')).map(show),
    []
  )
})

t.test('shared/kube knows no other client', async t => {
  const clients = /^(node-libvirt|ovsdb-client|openstack-sdk-lite|shared\/(runtime|local))/
  t.strictSame(
    outsideOf('shared/kube/')
      .filter(({ target }) => clients.test(target))
      .map(show),
    []
  )
})

const pure =
  /^shared\/rules\/|^(functions|agents)\/.*(\/(decide|reflect|classify|plan|verdict|status|render|to-event|ready|phase|mapping|agent-pods)\.ts|\/render\/.*)$/
/** Functions of their arguments alone; of two packages that also have effects, the names that have none. */
const purePackages = new Set(['typebox', 'yaml', '@marcbachmann/cel-js', 'rfc6902', 'croner', 'node:util'])
const pureNames = new Map([
  ['node:net', /^\{ ((BlockList|isIP(v[46])?)(, )?)+ \}$/],
  ['node:crypto', /^\{ (createHash|hash) \}$/]
])
const effects = ({ target, clause, typeOnly }: Import): boolean =>
  !typeOnly && !purePackages.has(target) && !pureNames.get(target)?.test(clause) && !/^shared\/(schema|events)\//.test(target)

t.test('what is decided is pure: it takes values from schema, events, a pure package, or a file that is as pure', async t => {
  const breaches = (file: string, seen: Set<string>): Import[] =>
    imports
      .filter(one => one.file === file && effects(one))
      .flatMap(one => {
        if (!sources.includes(one.target)) return [one]
        return seen.has(one.target) ? [] : breaches(one.target, seen.add(one.target))
      })
  const all = sources
    .filter(file => pure.test(file))
    .flatMap(file => breaches(file, new Set([file])).map(one => [file, show(one)]))
  t.strictSame(all, [])
})

const chance = /Date\.now\(|new Date\(\)|Math\.random\(|random(Bytes|UUID|Int)\(/
t.test('process.env is read in runtime/config alone, and decisions know no clock', async t => {
  for (const file of sources) {
    const text = await readFile(join(root, file), 'utf8')
    if (file !== 'shared/runtime/config.ts') t.notMatch(text, /process\.env/, `${file} reads no environment`)
    if (pure.test(file)) t.notMatch(text, chance, `${file} has no clock and no chance`)
  }
})
