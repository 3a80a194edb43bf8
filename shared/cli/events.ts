// `drover events`: what functions told, and with --follow also what changes while somebody looks, in the words of the page.
import { Event, type Kube } from '../kube/index.ts'
import { Eviction } from '../schema/eviction.ts'
import { toldHappening, toldKinds } from '../view/told.ts'
import type { Happening } from '../view/types.ts'
import { watchFleet } from '../view/watch-fleet.ts'
import { onCluster, Trouble, type ClusterOptions } from './cluster.ts'
import { listed } from './fleet.ts'
import { asData, say, sayOne, toned, type Format } from './output.ts'

interface Options extends ClusterOptions {
  output: Format
  follow: boolean
}

export const events = (host: string | undefined, options: Options): Promise<number> =>
  onCluster('events', options, async kube => {
    const wanted = ({ about }: Happening): boolean => host === undefined || about === host
    const past = (await read(kube)).filter(wanted)
    if (options.follow) return follow(kube, past, wanted, options)
    say(asData(options.output, past) ?? (past.map(lineOf).join('\n') || 'Nothing was told within the last hour.'))
    return 0
  })

async function read(kube: Kube): Promise<Happening[]> {
  const evictions = new Map((await listed(kube, Eviction)).map(({ metadata, spec }) => [metadata.name, spec?.hypervisor]))
  const all = await Promise.all(toldKinds.map(kind => kube.list(Event, { fieldSelector: `regarding.kind=${kind}` })))
  return all
    .flatMap(({ items }) => items.map(event => toldHappening(event, name => evictions.get(name))))
    .toSorted((a, b) => a.time.localeCompare(b.time))
}

const clock = (time: string): string => (Number.isNaN(Date.parse(time)) ? time : new Date(time).toISOString().slice(0, 19))
const lineOf = ({ time, tone, about, text }: Happening): string => `${clock(time)}  ${about}  ${toned(tone, text)}`

/** Until Ctrl-C, or until whoever reads has gone. */
async function follow(
  kube: Kube,
  past: readonly Happening[],
  wanted: (happening: Happening) => boolean,
  { output }: Options
): Promise<number> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  process.stdout.once('error', () => stop.abort())
  const told = new Set<string>()
  const tell = (happening: Happening): void => {
    const key = `${happening.id}/${happening.time}`
    if (told.has(key) || !wanted(happening)) return
    told.add(key)
    if (told.size > keptKeys) told.delete([...told][0] ?? '')
    sayOne(output, happening, lineOf(happening))
  }
  for (const happening of past) tell(happening)
  const refused: string[] = []
  const fleet = watchFleet({
    kube,
    title: '',
    clock: () => new Date(),
    signal: stop.signal,
    batchMs: 100,
    onError: (err, kind) => {
      refused.push(kind)
      process.stderr.write(`drover events: ${kind} cannot be followed: ${(err as Error).message}\n`)
      if (refused.length === toldKinds.length + 6) stop.abort() // all of them
    }
  })
  await new Promise<void>(resolve => {
    stop.signal.addEventListener('abort', () => resolve(), { once: true })
    fleet.follow(() => fleet.happenings().toReversed().forEach(tell), stop.signal)
  })
  if (refused.length > toldKinds.length)
    throw new Trouble('nothing can be followed: ask for the rights that the lines above name')
  return 0
}
const keptKeys = 5000
