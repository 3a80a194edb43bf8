// NA-17…19: guests that move between two real libvirtd, seen by an agent at each end. An agent tells what it sees; which of the two ends is
// told first is chance.
import { join } from 'node:path'
import { connect as connectLibvirt, LibvirtError, procedures as p, type Domain, type Libvirt } from 'node-libvirt'
import t from 'tap'
import { create } from '../../node-libvirt/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { diskXml, writeGuestImage } from '../../servers/libvirt/guest.ts'
import { agent, broker, hostRoot, kubeconfigOfNobody, type Told } from './harness.ts'

t.setTimeout(120_000)
const { dir, nodes } = await startLibvirt(t, {
  nodes: [
    { name: 'a', restart: true },
    { name: 'b', restart: true }
  ]
})
const [a, b] = nodes as [(typeof nodes)[number], (typeof nodes)[number]]
const sink = await broker(t)
for (const [host, node] of Object.entries({ a, b })) {
  const root = await hostRoot(t)
  await agent(t, {
    NODE_NAME: host,
    KUBECONFIG: await kubeconfigOfNobody(root),
    K_SINK: sink.url,
    LIBVIRT_URI: node.uri,
    HOST_ROOT: root,
    STATE_FOLDER: join(root, 'state')
  })
  await sink.seen('instances.reported', ({ data }) => data['host'] === host)
}
await writeGuestImage(`${dir}/dirty.img`, 32) // writes to its memory without end
await writeGuestImage(`${dir}/calm.img`)
const source = await connectLibvirt(a.uri)
const target = await connectLibvirt(b.uri)
t.teardown(() => Promise.all([source.close(), target.close()]))

/** Answers when the move has ended: undefined, or the error. */
function move(virt: Libvirt, domain: Domain, to: typeof a, mibPerSecond: bigint, flags = 0): Promise<LibvirtError | undefined> {
  const limits = ['bandwidth', ...(flags & p.MIGRATE.postCopy ? ['bandwidth.postcopy'] : [])]
  const params = limits.map(field => ({ field, type: 'ullong' as const, value: mibPerSecond }))
  const all = p.MIGRATE.live | p.MIGRATE.peerToPeer | p.MIGRATE.unsafe | flags
  const destination = `qemu+tcp://127.0.0.1:${to.port}/system`
  return virt.call(p.domainMigratePerform, { domain, destination, params, flags: all }, { timeoutMs: 100_000 }).then(
    () => undefined,
    (err: LibvirtError) => err
  )
}
const startPostCopy = (domain: Domain) =>
  eventually('the switch', async () => {
    try {
      await source.call(p.domainMigrateStartPostCopy, { domain })
      return true
    } catch (err) {
      if (!(err instanceof LibvirtError)) throw err
      return false // not yet: the first round has to have begun
    }
  })

const of = (host: string, domain: Domain) => (event: Told) => event.data['host'] === host && event.data['server'] === domain.uuid
const sampled = (domain: Domain, phase: string) =>
  sink.seen('migration.progressed', event => of('a', domain)(event) && event.data['stats'].phase === phase)
const ends = (domain: Domain) =>
  sink.told.flatMap(({ type, data }) =>
    type === 'migration.ended' && data['server'] === domain.uuid ? [`${data['host']} ${data['result']}`] : []
  )
const states = (host: string, domain: Domain): string[] =>
  sink.told.flatMap(({ type, data }) =>
    type === 'instances.reported' && data['host'] === host
      ? data['instances'].flatMap((one: any) => (one.id === domain.uuid ? [one.state as string] : []))
      : []
  )
/** The last word of the reports; what came in between is chance. */
const listed = async (host: string, domain: Domain, state: string) => {
  await eventually(`${domain.name} ${state} on ${host}`, async () => states(host, domain).at(-1) === state).catch(err => {
    throw new Error(`reported: ${states(host, domain).join()}`, { cause: err })
  })
}

t.test('NA-17, NA-18: a move is sampled; aborted, it has failed at both ends, and the guest is still here', async t => {
  const domain = await create(source, 'aborted', { devices: diskXml(`${dir}/dirty.img`) })
  const moved = move(source, domain, b, 1n)
  const sample = await sink.seen(
    'migration.progressed',
    event => of('a', domain)(event) && Number(event.data['stats'].memTotal) > 0
  )
  t.match(sample.data, { origin: 'a', stats: { type: 'unbounded', operation: 'migration_out', phase: 'Running' } })
  t.notOk('destination' in sample.data, 'HV-18: the agent here does not know where to')
  await source.call(p.domainAbortJob, { domain })
  t.match(await moved, { code: 'operation-aborted' })
  const [here, there] = await Promise.all(['a', 'b'].map(host => sink.seen('migration.ended', of(host, domain))))
  t.match(here?.data, { origin: 'a', result: 'failed', stats: { type: 'failed' } })
  t.match(there?.data, { destination: 'b', result: 'failed', stats: { operation: 'migration_in' } })
  t.match(await source.domainState(domain), { state: 'running' })
  await listed('b', domain, 'gone')
  t.strictSame(ends(domain).toSorted(), ['a failed', 'b failed'], 'each end told once')
  await source.call(p.domainDestroy, { domain })
})

t.test('NA-18, NA-19: a move that arrives is told as a success by both ends, with the figures of the whole', async t => {
  const domain = await create(source, 'calm', { devices: diskXml(`${dir}/calm.img`) })
  t.equal(await move(source, domain, b, 1000n), undefined)
  const [here, there] = await Promise.all(['a', 'b'].map(host => sink.seen('migration.ended', of(host, domain))))
  t.match(here?.data, { origin: 'a', result: 'success', stats: { type: 'completed', operation: 'migration_out' } })
  t.match(there?.data, { destination: 'b', result: 'success', stats: { type: 'completed', operation: 'migration_in' } })
  for (const end of [here, there]) t.ok(Number(end?.data['stats'].memTotal) >= 64 * 2 ** 20, JSON.stringify(end?.data['stats']))
  await listed('a', domain, 'gone')
  await listed('b', domain, 'running')
  t.strictSame(ends(domain).toSorted(), ['a success', 'b success'], 'each end told once')
  const stops = sink.told.filter(({ type, data }) => /^domain\.(?:stopped|crashed)$/.test(type) && data['server'] === domain.uuid)
  t.strictSame(stops, [], 'ha.md §2: nothing that looks like a fault')
})

t.test('NA-19: post-copy is a phase of its own', async t => {
  const domain = await create(source, 'postcopy', { devices: diskXml(`${dir}/dirty.img`) })
  const moved = move(source, domain, b, 8n, p.MIGRATE.postCopy)
  await sink.seen('migration.progressed', of('a', domain))
  await startPostCopy(domain)
  await sampled(domain, 'PostCopy')
  t.equal(await moved, undefined)
  await Promise.all(['a', 'b'].map(host => sink.seen('migration.ended', of(host, domain))))
  await listed('a', domain, 'gone')
  t.strictSame(ends(domain).toSorted(), ['a success', 'b success'], 'each end told once')
})

t.test('NA-19: post-copy that breaks is told as such, and is no end: neither side is touched (ha.md §2, T-27)', async t => {
  const domain = await create(source, 'broken', { devices: diskXml(`${dir}/dirty.img`) })
  const moved = move(source, domain, b, 1n, p.MIGRATE.postCopy)
  await sink.seen('migration.progressed', of('a', domain))
  await startPostCopy(domain)
  await sampled(domain, 'PostCopy')
  b.run('kill -9 $(cat /run/libvirt/qemu/broken.pid)')
  const failed = await sink.seen('postcopy.failed', of('a', domain))
  t.match(failed.data, { event: 'suspended', detail: 'post-copy-failed' })
  t.ok(await moved, 'the call has failed')
  await sampled(domain, 'PostCopyFailed')
  t.notOk(ends(domain).includes('a success'))
  t.match(await source.domainState(domain), { state: 'paused', reason: 'post-copy-failed' })
  await source.call(p.domainDestroy, { domain })
  t.match((await sink.seen('migration.ended', of('a', domain))).data, { result: 'failed' }, 'the entry is released')
})

t.test(
  'NA-18: the daemon at the source dies under a move: after it is back, the move has failed and the guest is here',
  async t => {
    const domain = await create(source, 'orphan', { devices: diskXml(`${dir}/dirty.img`) })
    const moved = move(source, domain, b, 1n)
    await sink.seen('migration.progressed', of('a', domain))
    a.kill('KILL')
    t.match(await moved, { code: 'closed' })
    t.match((await sink.seen('migration.ended', of('a', domain))).data, { origin: 'a', result: 'failed' })
    t.match((await sink.seen('migration.ended', of('b', domain))).data, { destination: 'b', result: 'failed' })
    const again = await connectLibvirt(a.uri)
    t.teardown(() => again.close())
    t.match(await again.domainState(domain), { state: 'running' })
    t.strictSame(ends(domain).toSorted(), ['a failed', 'b failed'])
    t.strictSame(sink.malformed, [])
  }
)
