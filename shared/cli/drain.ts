// `drover drain HOST` and its way back. A drain is maintenance that was asked for: the function does the rest, with or without somebody watching.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import type { Kube } from '../kube/index.ts'
import { Eviction } from '../schema/eviction.ts'
import { Hypervisor } from '../schema/hypervisor.ts'
import { drainNeedsPerson, drainOf, evictionOf, isOver } from '../view/drain.ts'
import { movesOf } from '../view/moves.ts'
import { onCluster, Trouble, type ClusterOptions } from './cluster.ts'
import { readHost } from './fleet.ts'
import { asData, say, table, type Format } from './output.ts'

interface Options extends ClusterOptions {
  output: Format
}

interface DrainOptions extends Options {
  reason?: string
  dryRun: boolean
  watch: boolean
  timeout: string
}

export const drain = (host: string, options: DrainOptions): Promise<number> =>
  onCluster('drain', options, async kube => {
    const { hypervisor, eviction } = await readHost(kube, host)
    const reason = options.reason ?? `drover drain by ${userInfo().username}`
    if (options.dryRun) return plan(kube, host, reason, options)
    const { maintenance = '' } = hypervisor.spec
    if (maintenance !== '' && maintenance !== 'manual')
      throw new Trouble(`${host} is in maintenance ${maintenance} already, which a drain by hand would end`)
    if (maintenance === '')
      await kube.patch(Hypervisor, { name: host }, { spec: { maintenance: 'manual', maintenanceReason: reason } })
    const said = maintenance === '' ? `${host} is to be drained: ${reason}` : `${host} is being drained already`
    const data = options.output === 'json' || options.output === 'yaml'
    if (!data || !options.watch) say(asData(options.output, { host, maintenance: 'manual', reason }) ?? said)
    const earlier = maintenance === '' && eviction && isOver(eviction) ? eviction.metadata.uid : undefined
    return options.watch ? follow(kube, host, earlier, options.output) : 0
  })

export const undrain = (host: string, options: Options): Promise<number> =>
  onCluster('undrain', options, async kube => {
    const { hypervisor } = await readHost(kube, host)
    const { maintenance = '' } = hypervisor.spec
    if (maintenance !== '' && maintenance !== 'manual')
      throw new Trouble(`${host} is in maintenance ${maintenance}, which nobody asked for by hand; its owner ends it`)
    if (maintenance !== '') await kube.patch(Hypervisor, { name: host }, { spec: { maintenance: '', maintenanceReason: '' } })
    const said = maintenance === '' ? `${host} is in service` : `${host} goes back into service`
    say(asData(options.output, { host, maintenance: '' }) ?? said)
    return 0
  })

const seconds = (text: string): number => {
  const value = Number(text)
  if (!(value > 0)) throw new Trouble(`--timeout is a number of seconds, not ${text}`)
  return value
}

/** An eviction that only plans, and goes when it was read. */
async function plan(kube: Kube, host: string, reason: string, { timeout, output }: DrainOptions): Promise<number> {
  const timeoutSeconds = seconds(timeout)
  const name = `${host}-plan-${randomUUID().slice(0, 8)}`
  await kube.create(Eviction, { metadata: { name }, spec: { hypervisor: host, reason, dryRun: true } })
  try {
    for await (const planned of changesOf(
      kube,
      evictions => evictions.find(({ metadata }) => metadata.name === name),
      timeoutSeconds
    )) {
      if (!isOver(planned)) continue
      const moves = movesOf(host, planned, [], new Date())
      const rows = moves.map(({ name, word, tone, line }) => [name, { text: word, tone }, line])
      const stuck = drainNeedsPerson(planned)
      const told = moves.length === 0 ? `${host} is empty: nothing would move` : table(['VM', 'PLAN', ''], rows)
      say(asData(output, { host, moves, ...(stuck !== undefined && { stuck }) }) ?? [told, stuck].filter(Boolean).join('\n'))
      return stuck === undefined ? 0 : 1
    }
    throw new Trouble(`no plan within ${timeoutSeconds} s; is functions/evict running? \`kubectl describe eviction\` tells more`)
  } finally {
    await kube.delete(Eviction, { name })
  }
}

/** `earlier`: a drain that was over before this one began. */
async function follow(kube: Kube, host: string, earlier: string | undefined, output: Format): Promise<number> {
  const data = output === 'json' || output === 'yaml'
  let told = ''
  for await (const eviction of changesOf(kube, evictions => evictionOf(host, evictions))) {
    if (isOver(eviction) && eviction.metadata.uid === earlier) continue
    const view = drainOf(eviction, new Date())
    const { percent, word, line, eta } = view
    const until = eta && !isOver(eviction) ? ` · until ${new Date(eta).toTimeString().slice(0, 8)}` : ''
    const text = `${bar(percent)} ${word}${line ? ` · ${line}` : ''}${until}`
    if (text !== told && !data) progress(text, isOver(eviction))
    told = text
    if (!isOver(eviction)) continue
    const stuck = drainNeedsPerson(eviction)
    if (data) say(asData(output, { ...view, ...(stuck !== undefined && { stuck }) }) ?? '')
    else if (stuck !== undefined) say(stuck)
    return eviction.status?.verdict === 'Succeeded' ? 0 : 1
  }
  return 1
}

const width = 24
const bar = (percent: number): string => {
  const full = Math.round((width * percent) / 100)
  return `[${'#'.repeat(full)}${'.'.repeat(width - full)}] ${String(percent).padStart(3)} %`
}

/** One line that is written over on a terminal; a line for each change in a pipe. */
function progress(text: string, last: boolean): void {
  const { isTTY, columns } = process.stdout
  if (!isTTY) return say(text)
  process.stdout.write(`\r\u001B[K${last ? text : text.slice(0, Math.max(20, columns - 1))}${last ? '\n' : ''}`)
}

/** The eviction that is meant, whenever one of them changes. */
async function* changesOf(
  kube: Kube,
  choose: (evictions: readonly Eviction[]) => Eviction | undefined,
  timeoutSeconds?: number
): AsyncGenerator<Eviction> {
  const stop = new AbortController()
  const interrupted = (): void => stop.abort()
  process.once('SIGINT', interrupted)
  const late = timeoutSeconds === undefined ? undefined : setTimeout(() => stop.abort(), timeoutSeconds * 1000)
  const known = new Map<string, Eviction>()
  try {
    for await (const seen of kube.watch(Eviction, { signal: stop.signal })) {
      if (seen.type === 'snapshot') known.clear()
      for (const object of seen.type === 'snapshot' ? seen.items : [seen.object]) {
        if (seen.type === 'deleted') known.delete(object.metadata.name)
        else known.set(object.metadata.name, object)
      }
      const chosen = choose([...known.values()])
      if (chosen) yield chosen
    }
  } finally {
    stop.abort()
    clearTimeout(late)
    process.off('SIGINT', interrupted)
  }
}
