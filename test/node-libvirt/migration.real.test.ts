// Two libvirtd on one machine, a guest that writes to its memory without end, and a move between them
import t from 'tap'
import { paramsByField, procedures as p } from 'node-libvirt'
import { startLibvirt } from '../servers/libvirt.ts'
import { diskXml, writeGuestImage } from '../servers/libvirt/guest.ts'
import { create, libvirtNeeded, listen, open } from './real.ts'
import { until } from './until.ts'

await libvirtNeeded()
const { dir, nodes } = await startLibvirt(t, { nodes: [{ name: 'a' }, { name: 'b' }] })
const [a, b] = nodes
if (!a || !b) throw new Error('two nodes expected')
const [source, target] = await Promise.all([open(t, a.uri), open(t, b.uri)])
const here = await listen(source)
const there = await listen(target)
const destination = `qemu+tcp://127.0.0.1:${b.port}/system`
const LIVE = p.MIGRATE.live | p.MIGRATE.peerToPeer | p.MIGRATE.unsafe
const bandwidth = (mibPerSecond: bigint) => ({ field: 'bandwidth', type: 'ullong' as const, value: mibPerSecond })

await writeGuestImage(`${dir}/dirty.img`, 32)
const domain = await create(source, 'm', { devices: diskXml(`${dir}/dirty.img`) })

/** The call answers when the move has ended: on the same connection everything else goes on meanwhile. */
const move = (...params: Array<ReturnType<typeof bandwidth>>) =>
  source.call(p.domainMigratePerform, { domain, destination, params, flags: LIVE | p.MIGRATE.postCopy }, { timeoutMs: 60_000 })

t.test('a move that cannot converge, watched and aborted', async t => {
  const refused = t.rejects(move(bandwidth(1n)), { code: 'operation-aborted', server: { number: 78 } })
  await until(async () => {
    const { type, params } = await source.call(p.domainGetJobStats, { domain })
    return type === 'unbounded' && paramsByField(params).has('memory_processed')
  })
  const { params } = await source.call(p.domainGetJobStats, { domain })
  t.match(paramsByField(params).get('operation'), { type: 'int', value: p.jobOperations.indexOf('migration-out') })
  t.match(await source.call(p.domainGetJobInfo, { domain }), { type: 'unbounded' })
  t.match(await source.call(p.domainGetControlInfo, { domain }), { state: /ok|job|occupied/ })
  await source.call(p.domainMigrateSetMaxDowntime, { domain, downtimeMs: 1n })
  await source.call(p.domainAbortJob, { domain })
  await refused
  t.match(await source.domainState(domain), { state: 'running' })
})

t.test('a move that arrives, by post-copy', async t => {
  const iterations = here.events.length
  const moved = move(bandwidth(40n))
  await until(() => here.events.slice(iterations).some(({ kind }) => kind === 'migration-iteration'))
  t.match(await here.seen('migration-iteration', 'm'), { iteration: Number })
  await source.call(p.domainMigrateStartPostCopy, { domain })
  await moved

  const { params } = await here.seen('job-completed', 'm')
  t.match(paramsByField(params).get('memory_total'), { type: 'ullong' })
  await here.seen('lifecycle', 'm', ({ event, detail }) => event === 'suspended' && detail === 'post-copy')
  await here.seen('lifecycle', 'm', ({ event, detail }) => event === 'stopped' && detail === 'migrated')
  await there.seen('lifecycle', 'm', ({ event, detail }) => event === 'resumed' && detail === 'post-copy')
  t.strictSame(await source.domains(), [])
  const [arrived] = await target.domains()
  t.equal(arrived?.uuid, domain.uuid)
})
