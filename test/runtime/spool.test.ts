// Events go out in order, once, and survive a restart.
import { appendFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { libvirtRestored } from '../../shared/events/libvirt.ts'
import { type Bench, bench, event, folderOf, upTo } from './spool-bench.ts'

t.test('events go out in the order in which they came, once', async t => {
  const folder = await folderOf(t)
  const { put, idle, ids, got, stop } = await bench(t, folder)
  await Promise.all(Array.from({ length: 1000 }, (_, at) => put(event(at + 1))))
  await idle()
  t.strictSame(ids(), upTo(1000))
  t.match(got[0], { kind: { type: libvirtRestored.type }, subject: 'n1', time: '2026-11-16T12:00:00.000Z', data: { epoch: 1 } })
  await stop()
  t.strictSame(await readdir(folder), ['sent'], 'nothing is left on disk')
})

t.test('an event without an id gets one that stays the same', async t => {
  const { put, idle, got, sink } = await bench(t, await folderOf(t), { open: false })
  const { id: _, ...rest } = event(1)
  await put(rest)
  sink.open = true
  await idle()
  t.match(got[0]?.id, /^[0-9a-f-]{36}$/)
})

t.test('what the sink did not take is sent after a restart, by the same ids', async t => {
  const folder = await folderOf(t)
  const first = await bench(t, folder, { open: false })
  for (let n = 1; n <= 700; n++) await first.put(event(n))
  t.equal(first.size, 700)
  await first.stop()
  const second = await bench(t, folder, { open: false })
  t.equal(second.size, 700)
  await second.put(event(701))
  second.sink.open = true
  await second.idle()
  t.strictSame(second.ids(), upTo(701))
  await second.stop()
  const third = await bench(t, folder)
  await third.put(event(702))
  await third.idle()
  t.strictSame(third.ids(), ['id-702'], 'nothing is sent again')
})

t.test(
  'the sink is away for ten minutes while something happens every second: nothing is lost, and it is asked ever less',
  async t => {
    let [nowMs, happened, tries] = [0, 0, 0]
    const delay = async (ms: number) => {
      tries += 1
      nowMs += ms
      while (happened * 1000 < Math.min(nowMs, 600_000)) await made.put(event((happened += 1)))
      made.sink.open = nowMs >= 600_000
    }
    const made: Bench = await bench(t, await folderOf(t), { open: false, delay })
    await made.put(event((happened = 1)))
    await made.idle()
    t.strictSame(made.ids(), upTo(600), 'each once, in order')
    t.ok(tries < 300, `${tries} tries in ten minutes`)
  }
)

t.test('the line at which a process was killed is cut off, and nothing else', async t => {
  const folder = await folderOf(t)
  const first = await bench(t, folder, { open: false })
  for (let n = 1; n <= 3; n++) await first.put(event(n))
  await first.stop()
  const segment = (await readdir(folder)).find(name => name.endsWith('.log')) ?? ''
  await appendFile(join(folder, segment), '{"seq":4,"type":"x","ev')
  const second = await bench(t, folder)
  await second.put(event(5))
  await second.idle()
  t.strictSame(second.ids(), ['id-1', 'id-2', 'id-3', 'id-5'])
})

t.test('an event that the broker refuses for good does not hold up the others', async t => {
  const { put, idle, ids, sink, metric } = await bench(t, await folderOf(t))
  sink.refuse = 'id-2'
  for (let n = 1; n <= 3; n++) await put(event(n))
  await idle()
  t.strictSame(ids(), ['id-1', 'id-3'])
  t.equal(await metric('drover_spool_dropped_total{reason="refused"}'), 1)
})
