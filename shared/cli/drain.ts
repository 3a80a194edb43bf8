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
import { say, table } from './output.ts'

interface DrainOptions extends ClusterOptions {
  reason?: string
  dryRun: boolean
  watch: boolean
  timeout: string
}

export const drain = (host: string, options: DrainOptions): Promise<number> =>
  onCluster('drain', options, async kube => {
    const { hypervisor, eviction } = await readHost(kube, host)
    const reason = options.reason ?? `drover drain by ${userInfo().username}`
    if (options.dryRun) return plan(kube, host, reason, seconds(options.timeout))
    const { maintenance = '' } = hypervisor.spec
    if (maintenance !== '' && maintenance !== 'manual')
      throw new Trouble(`${host} is in maintenance ${maintenance} already, which a drain by hand would end`)
    if (maintenance === '')
      await kube.patch(Hypervisor, { name: host }, { spec: { maintenance: 'manual', maintenanceReason: reason } })
    say(maintenance === '' ? `${host} is to be drained: ${reason}` : `${host} is being drained already`)
    const earlier = maintenance === '' && eviction && isOver(eviction) ? eviction.metadata.uid : undefined
    return options.watch ? follow(kube, host, earlier) : 0
  })

export const undrain = (host: string, options: ClusterOptions): Promise<number> =>
  onCluster('undrain', options, async kube => {
    const { hypervisor } = await readHost(kube, host)
    const { maintenance = '' } = hypervisor.spec
    if (maintenance !== '' && maintenance !== 'manual')
      throw new Trouble(`${host} is in maintenance ${maintenance}, which nobody asked for by hand; its owner ends it`)
    if (maintenance === '') say(`${host} is in service`)
    else {
      await kube.patch(Hypervisor, { name: host }, { spec: { maintenance: '', maintenanceReason: '' } })
      say(`${host} goes back into service`)
    }
    return 0
  })

const seconds = (text: string): number => {
  const value = Number(text)
  if (!(value > 0)) throw new Trouble(`--timeout is a number of seconds, not ${text}`)
  return value
}

/** An eviction that only plans, and goes when it was read. */
async function plan(kube: Kube, host: string, reason: string, timeoutSeconds: number): Promise<number> {
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
      say(moves.length === 0 ? `${host} is empty: nothing would move` : table(['VM', 'PLAN', ''], rows))
      const stuck = drainNeedsPerson(planned)
      if (stuck !== undefined) say(stuck)
      return stuck === undefined ? 0 : 1
    }
    throw new Trouble(`no plan within ${timeoutSeconds} s; is functions/evict running? \`kubectl describe eviction\` tells more`)
  } finally {
    await kube.delete(Eviction, { name })
  }
}

/** `earlier`: a drain that was over before this one began. */
async function follow(kube: Kube, host: string, earlier: string | undefined): Promise<number> {
  let told = ''
  for await (const eviction of changesOf(kube, evictions => evictionOf(host, evictions))) {
    if (isOver(eviction) && eviction.metadata.uid === earlier) continue
    const { percent, word, line, eta } = drainOf(eviction, new Date())
    const text = `${bar(percent)} ${word}${line ? ` · ${line}` : ''}${eta ? ` · until ${eta}` : ''}`
    if (text !== told) progress(text, isOver(eviction))
    told = text
    if (!isOver(eviction)) continue
    const stuck = drainNeedsPerson(eviction)
    if (stuck !== undefined) say(stuck)
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
  process.stdout.write(`\r\u001B[K${last ? text : text.slice(0, columns - 1)}${last ? '\n' : ''}`)
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
