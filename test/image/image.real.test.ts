// The image as it ships: the same to the bit when made twice, and at work on a root that nobody can write to, as a user that may nothing.
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { makeImage } from '../../shared/image/image.ts'
import { unpack } from '../servers/image.ts'

t.setTimeout(600_000)
const folder = await mkdtemp(join(tmpdir(), 'i-'))
t.teardown(() => rm(folder, { recursive: true }))
const name = 'dev.local/drover:test'
const only = ['dead-letters', 'cluster-agent']
const make = (to: string) => makeImage({ name, to: join(folder, to), only })
const first = await make('one.tar')
const { about, start } = await unpack(join(folder, 'one.tar'), folder)

t.test('made twice, the digest is the same, compile cache and all', async t => {
  t.equal((await make('two.tar')).digest, first.digest)
})

t.test('a function answers there, from its compile cache', async t => {
  const child = start(['dead-letters'], { env: { PORT: '0', HOST: '127.0.0.1', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' } })
  t.teardown(() => child.kill('SIGKILL'))
  const cache = { accepted: 0, other: [] as string[] }
  const url = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream!).on('line', line => {
      if (/was accepted/.test(line)) cache.accepted += 1
      if (/rejected|mismatch|no such file/.test(line)) cache.other.push(line)
      if (line.startsWith('{"level"')) url.resolve((JSON.parse(line) as { url: string }).url)
    })
  }
  void once(child, 'exit').then(([code]) => url.reject(new Error(`it ended with ${code}`)))
  const address = await url.promise
  t.equal((await fetch(`${address}/healthz`)).status, 200)
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  t.match(status, /^Uid:\s65532\s65532\s65532\s65532$/m)
  t.match(status, /^CapEff:\s0+$/m)
  t.match(status, /^NoNewPrivs:\s1$/m)
  t.match(await readFile(`/proc/${child.pid}/mounts`, 'utf8'), /^\S+ \/ \S+ ro[, ]/m, 'its root cannot be written to')
  child.kill('SIGTERM')
  t.strictSame(await once(child, 'exit'), [0, null])
  t.ok(cache.accepted > 5, `${cache.accepted} modules came from the cache`)
  t.strictSame(cache.other, [])
})

t.test('an agent tells its settings, and a name that is none is refused', async t => {
  const agent = start(['cluster-agent', '--help'])
  t.match(await text(agent.stdout!), /AGENT_NAMESPACES/)
  const nobody = start(['nobody'])
  t.match(await text(nobody.stderr!), /one of cluster-agent, dead-letters/)
  t.equal(nobody.exitCode ?? (await once(nobody, 'exit'))[0], 1)
})

t.test('the command that holds an agent’s shutdown lock is there, with all that it needs', async t => {
  const child = start(['--version'], { entrypoint: ['/usr/bin/systemd-inhibit'] })
  t.match(await text(child.stdout!), /^systemd \d+/)
})

t.test('the Containerfile says the same of the image', async t => {
  const lines = (await readFile(join(import.meta.dirname, '../../shared/image/Containerfile'), 'utf8')).split('\n')
  const said = (word: string) => lines.filter(line => line.startsWith(`${word} `)).map(line => line.slice(word.length + 1))
  const { User, Env, Entrypoint, WorkingDir } = about.config
  t.strictSame(said('ENV'), Env)
  t.strictSame(said('USER'), [User])
  t.strictSame(said('WORKDIR').at(-1), WorkingDir)
  t.strictSame(JSON.parse(said('ENTRYPOINT').join()), Entrypoint)
})

t.test('what is in it is listed', async t => {
  const bom = JSON.parse(await readFile(first.bom, 'utf8')) as {
    bomFormat: string
    serialNumber: string
    components: Array<{ name: string; version: string }>
  }
  t.equal(bom.bomFormat, 'CycloneDX')
  t.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  const versionOf = (name: string) => bom.components.find(component => component.name === name)?.version
  t.equal(versionOf('node'), process.versions.node)
  t.ok(versionOf('fastify'))
  t.notOk(versionOf('oxlint'), 'nothing that is for development only')
})
