// A watch that is interrupted: what it tells, and from which version it goes on.
import t from 'tap'
import type { Kube, KubeError, Seen } from '../../shared/kube/index.ts'
import { ConfigMap } from '../../shared/kube/index.ts'
import { matchWhole } from '../assert/match-whole.ts'
import type { Answer } from './scripted.ts'
import { refuse, scripted, silence, stream } from './scripted.ts'
import { line, listed, object } from './watch-lines.ts'

const expired = JSON.stringify({ type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } })

const told = (seen: Seen<ConfigMap>): string =>
  seen.type === 'snapshot'
    ? `snapshot ${seen.items.map(item => item.metadata!.name).join()}`
    : `${seen.type} ${seen.object.metadata!.name} ${seen.object.metadata!.annotations!['note']}`

/** What the watch tells until the last of these is told. */
async function watched(kube: Kube, count: number, onFollowing?: (following: boolean) => void): Promise<string[]> {
  const stop = new AbortController()
  const all: string[] = []
  for await (const seen of kube.watch(ConfigMap, { signal: stop.signal, ...(onFollowing && { onFollowing }) })) {
    all.push(told(seen))
    if (all.length === count) stop.abort()
  }
  return all
}

const versions = (asked: URL[]): Array<string | null> =>
  asked.filter(url => url.searchParams.has('watch')).map(url => url.searchParams.get('resourceVersion'))

t.test('events arrive whole wherever the stream is cut', async t => {
  const bytes = Buffer.from(line('ADDED', 'a', 2) + line('MODIFIED', 'a', 3) + line('DELETED', 'a', 4))
  const { kube } = await scripted(t, [
    listed(1),
    stream(
      Array.from(bytes, byte => Buffer.of(byte)),
      'silence'
    )
  ])
  t.strictSame(await watched(kube, 4), ['snapshot ', 'changed a ü', 'changed a ü', 'deleted a ü'])
})

t.test('events arrive whole wherever the connection breaks', async t => {
  const bytes = Buffer.from(line('ADDED', 'a', 2) + line('ADDED', 'b', 3))
  const first = line('ADDED', 'a', 2).length + 1 // ü is two bytes
  for (let at = 0; at < bytes.length; at += 7) {
    const rest = at < first ? bytes : bytes.subarray(first)
    const { kube, asked } = await scripted(t, [listed(1), stream([bytes.subarray(0, at)], 'break'), stream([rest], 'silence')])
    t.strictSame(await watched(kube, 3), ['snapshot ', 'changed a ü', 'changed b ü'])
    t.strictSame(versions(asked), ['1', at < first ? '1' : '2'], `broken after ${at} bytes`)
  }
})

const interruptions: Array<[name: string, what: Answer, warning?: RegExp]> = [
  ['a line that is not JSON', stream(['{"type":"ADDED", nonsense}\n'], 'silence'), /Malformed: .*not JSON/],
  ['a line that is no event', stream(['[]\n'], 'silence'), /Malformed: not a watch event/],
  ['a value that is null', stream(['null\n'], 'silence'), /Malformed: not a watch event/],
  ['an event of an unknown type', stream([line('RENAMED', 'a', 2)], 'silence'), /Malformed: not a watch event: .*RENAMED/],
  [
    'an event without a version',
    stream(['{"type":"ADDED","object":{"metadata":{}}}\n'], 'silence'),
    /Malformed: .*without a version/
  ],
  ['an error event', stream(['{"type":"ERROR","object":{"code":500,"message":"etcd"}}\n'], 'silence'), /Internal: etcd/],
  ['half a line at the end', stream([line('ADDED', 'a', 2).slice(0, -1)]), /Malformed: .*ended within a line/],
  ['a line without an end', stream(endless(), 'silence'), /Malformed: a line of more than/],
  ['silence', stream([], 'silence'), /Timeout: .*said nothing/],
  ['no answer', silence, /Timeout: .*did not begin/],
  ['a broken connection', stream([], 'break'), /Unreachable/],
  ['503', refuse(503, 'ServiceUnavailable'), /Unavailable/],
  ['403 of a server that is still starting', refuse(403, 'Forbidden'), /Forbidden/],
  ['401', refuse(401, 'Unauthorized'), /Unauthorized/],
  ['an answer in plain text', response => void response.writeHead(500).end('panic'), /Internal: panic/],
  ['an end in good order', stream([])]
]

function* endless(): Generator<string> {
  for (let mebibytes = 0; mebibytes < 17; mebibytes++) yield 'x'.repeat(1024 * 1024)
}

for (const [name, interruption, warning] of interruptions) {
  t.test(`${name}: the watch goes on from the last version`, async t => {
    const answers = [listed(1, object('x', 1)), interruption, stream([line('ADDED', 'a', 2)], 'silence')]
    const warnings: string[] = []
    const warn = (fields: object) => {
      const { err } = fields as { err: KubeError }
      warnings.push(`${err.code}: ${err.message}`)
    }
    const { kube, asked, pauses } = await scripted(t, answers, { idleMs: 1000, timeoutMs: 1000, log: { warn } })
    t.strictSame(await watched(kube, 2), ['snapshot x', 'changed a ü'])
    t.strictSame(versions(asked), ['1', '1'])
    t.strictSame(pauses, [200])
    matchWhole(t, warnings, warning ? [warning] : [], 'and it is told why')
    t.equal(warnings.length, warning ? 1 : 0)
  })
}

const losses: Array<[name: string, what: Answer]> = [
  ['410', refuse(410, 'Expired')],
  ['410 as an event', stream([`${expired}\n`], 'silence')],
  ['a version of the future', refuse(504, 'Timeout', {}, { causes: [{ reason: 'ResourceVersionTooLarge' }] })],
  ['404, the kind is gone for a while', refuse(404, 'NotFound')]
]
for (const [name, loss] of losses) {
  t.test(`${name}: a new snapshot`, async t => {
    const { kube, asked } = await scripted(t, [
      listed(1, object('x', 1)),
      loss,
      listed(7, object('y', 6)),
      stream([line('ADDED', 'a', 8)], 'silence')
    ])
    t.strictSame(await watched(kube, 3), ['snapshot x', 'snapshot y', 'changed a ü'])
    t.strictSame(versions(asked), ['1', '7'])
  })
}

t.test('a bookmark moves the version on and is not told', async t => {
  const { kube, asked } = await scripted(t, [
    listed(1),
    stream([line('BOOKMARK', '', 5)]),
    stream([line('ADDED', 'a', 6)], 'silence')
  ])
  t.strictSame(await watched(kube, 2), ['snapshot ', 'changed a ü'])
  t.strictSame(versions(asked), ['1', '5'])
  t.equal(asked[1]!.searchParams.get('allowWatchBookmarks'), 'true')
})

t.test('whether changes are being followed is told', async t => {
  const { kube } = await scripted(t, [
    listed(1),
    stream([line('ADDED', 'a', 2)], 'break'),
    refuse(503, 'ServiceUnavailable'),
    stream([line('ADDED', 'b', 3)]), // ended in good order: taken up again at once
    stream([line('ADDED', 'c', 4)], 'silence')
  ])
  const told: boolean[] = []
  await watched(kube, 4, following => told.push(following))
  t.strictSame(told, [true, false, false, true, true])
})

t.test('the pauses grow, and an event resets them; Retry-After is heeded', async t => {
  const no = refuse(503, 'ServiceUnavailable')
  const busy = refuse(429, 'TooManyRequests', { 'retry-after': '7' })
  const refusals = Array.from({ length: 9 }, () => no)
  const { kube, pauses } = await scripted(t, [
    listed(1),
    ...refusals,
    busy,
    stream([line('ADDED', 'a', 2)], 'break'),
    stream([line('ADDED', 'b', 3)], 'silence')
  ])
  t.strictSame(await watched(kube, 3), ['snapshot ', 'changed a ü', 'changed b ü'])
  t.strictSame(pauses, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 7000, 200])
})

t.test('a first list that is refused is told at once', async t => {
  const { kube } = await scripted(t, [refuse(403, 'Forbidden')])
  await t.rejects(watched(kube, 1), { code: 'Forbidden', message: 'Forbidden it is' })
})

t.test('a first list that fails for a while is not', async t => {
  const no = refuse(503, 'ServiceUnavailable')
  const { kube } = await scripted(t, [no, no, no, listed(1, object('x', 1)), silence])
  t.strictSame(await watched(kube, 1), ['snapshot x'])
})
