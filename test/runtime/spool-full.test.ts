// NA-14: a spool and a disk that are full.
import { watch } from 'node:fs'
import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { bench, event, folderOf, upTo } from './spool-bench.ts'

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder)
  const sizes = await Promise.all(
    files.map(file =>
      stat(join(folder, file)).then(
        ({ size }) => size,
        () => 0
      )
    )
  ) // gone meanwhile
  return sizes.reduce((sum, size) => sum + size, 0)
}

t.test('a full spool leaves out the oldest superseded events, then the oldest, and counts both', async t => {
  const folder = await folderOf(t)
  const { put, idle, ids, sink, metric, stop } = await bench(t, folder, { open: false, maxBytes: 40_000 })
  await put(event(1)) // on its way
  for (let n = 2; n <= 100; n++) await put({ ...event(n), supersedes: n % 2 === 0 ? 'same' : `own-${n}` })
  for (let n = 101; n <= 200; n++) await put(event(n))
  sink.open = true
  await idle()
  const superseded = await metric('drover_spool_dropped_total{reason="superseded"}')
  const lost = await metric('drover_spool_dropped_total{reason="full"}')
  t.equal(ids()[0], 'id-1', 'the one on its way stays')
  t.equal(ids().length, 200 - superseded - lost, 'each is either sent or counted')
  t.strictSame(
    ids(),
    upTo(200).filter(id => ids().includes(id)),
    'in order'
  )
  t.ok(superseded > 0 && superseded < 50, `${superseded} superseded`)
  t.ok(ids().includes('id-200'))
  await stop()
})

t.test('NA-14: the files are never larger than the bound, at no moment', async t => {
  const folder = await folderOf(t)
  const maxBytes = 2 * 1024 * 1024
  const { put } = await bench(t, folder, { open: false, maxBytes })
  const sizes: number[] = []
  const looks: Array<Promise<unknown>> = []
  const watcher = watch(folder, () => looks.push(sizeOf(folder).then(bytes => sizes.push(bytes))))
  t.teardown(() => watcher.close())
  const long = 'x'.repeat(2000)
  for (let n = 1; n <= 2000; n++) await put({ ...event(n), ...(n % 3 > 0 && { supersedes: 'same' }), subject: long })
  sizes.push(await sizeOf(folder))
  await Promise.all(looks)
  t.ok(
    sizes.every(bytes => bytes <= maxBytes),
    `${Math.max(...sizes)} bytes of ${maxBytes}, ${sizes.length} looks`
  )
  t.ok(Math.max(...sizes) > maxBytes / 2, 'and the room is used')
})

t.test('superseded ones go first: with room for the rest nothing else is lost', async t => {
  const { put, idle, ids, sink, metric } = await bench(t, await folderOf(t), { open: false, maxBytes: 40_000 })
  for (let n = 1; n <= 2000; n++) await put({ ...event(n), supersedes: n % 100 === 0 ? `final-${n}` : 'heartbeat' })
  sink.open = true
  await idle()
  t.strictSame(
    ids().filter(id => Number(id?.slice(3)) % 100 === 0),
    upTo(20).map(id => `${id}00`)
  )
  t.equal(await metric('drover_spool_dropped_total{reason="full"}'), 0)
})

t.test('a first segment of which only the event on its way is left: the next one is found behind it', async t => {
  const { put, idle, ids, sink, metric } = await bench(t, await folderOf(t), { open: false, maxBytes: 1024 * 1024 })
  const long = 'x'.repeat(2000) // so that there are several segments
  const total = 600
  for (let n = 1; n <= total; n++) await put({ ...event(n), supersedes: `own-${n}`, subject: long })
  sink.open = true
  await idle()
  const lost = await metric('drover_spool_dropped_total{reason="full"}')
  t.equal(ids()[0], 'id-1')
  t.equal(ids().at(-1), `id-${total}`)
  t.equal(ids().length, total - lost)
})

t.test('a disk that takes nothing: kept in memory, said, counted; on disk again when it does', async t => {
  const parent = await folderOf(t)
  const folder = join(parent, 'spool')
  await writeFile(folder, 'a file where the folder should be')
  const made = await bench(t, folder, { open: false })
  await made.put(event(1))
  t.match(made.degraded, /^spool: E/)
  t.equal(await made.metric('drover_spool_degraded'), 1)
  for (let n = 2; n <= 2500; n++) await made.put({ ...event(n), supersedes: `k${n % 5}` })
  t.ok(made.size <= 1000, 'bounded')
  await rm(folder)
  await made.put(event(2501))
  t.equal(made.degraded, undefined)
  t.equal((await readdir(folder)).length, 2, 'on disk again')
  made.sink.open = true
  await made.idle()
  t.strictSame([made.ids()[0], made.ids().at(-1)], ['id-1', 'id-2501'])
  t.equal(made.ids().length + (await made.metric('drover_spool_dropped_total{reason="superseded"}')), 2501)
})

t.test('a really full disk', { skip: process.getuid?.() !== 0 && 'a small file system needs root' }, async t => {
  const { execFileSync } = await import('node:child_process')
  const folder = await folderOf(t)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder])
  t.teardown(() => execFileSync('umount', ['-l', folder]))
  const made = await bench(t, folder, { open: false })
  for (let n = 1; n <= 800; n++) await made.put(event(n))
  t.equal(made.degraded, 'spool: ENOSPC')
  made.sink.open = true
  await made.idle()
  t.strictSame(made.ids(), upTo(800), 'none lost, none twice, in order')
  await made.put(event(801))
  await made.idle()
  t.equal(made.degraded, undefined)
})

t.test(
  'a disk that was full from the start: no file stays open after a try',
  {
    skip: process.getuid?.() !== 0 && 'a small file system needs root'
  },
  async t => {
    const { execFileSync } = await import('node:child_process')
    const folder = await folderOf(t)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder])
    t.teardown(() => execFileSync('umount', ['-l', folder]))
    await writeFile(join(folder, 'ballast'), Buffer.alloc(16 * 1024)).catch(() => {}) // as much as fits
    const openFiles = async () => (await readdir('/proc/self/fd')).length
    const made = await bench(t, folder, { open: false })
    const before = await openFiles()
    for (let n = 1; n <= 50; n++) await made.put(event(n))
    t.equal(made.degraded, 'spool: ENOSPC')
    t.equal(await openFiles(), before)
    made.sink.open = true
    await made.idle()
    t.strictSame(made.ids(), upTo(50))
  }
)
