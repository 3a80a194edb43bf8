// `drover deadletters`: events that no function could handle, and how to send them again.
import { Event, KubeError, type Kube } from '../kube/index.ts'
import { deadLetter, letterView } from '../view/told.ts'
import type { LetterView } from '../view/types.ts'
import { brokerAddress, send } from './broker.ts'
import { onCluster, Trouble, type ClusterOptions } from './cluster.ts'
import { hint } from './nearest.ts'
import { asData, say, table, type Format } from './output.ts'

interface Options extends ClusterOptions {
  output: Format
}
interface ReplayOptions extends Options {
  all: boolean
  broker?: string
}

async function read(kube: Kube): Promise<Event[]> {
  const { items } = await kube.list(Event, { fieldSelector: `reason=${deadLetter.reason}` })
  return items.toSorted((a, b) => letterView(a).time.localeCompare(letterView(b).time))
}

export const listLetters = (options: Options): Promise<number> =>
  onCluster('deadletters', options, async kube => {
    const letters = (await read(kube)).map(letterView)
    say(asData(options.output, letters) ?? (letters.length === 0 ? none : lines(letters, options.output === 'wide')))
    return 0
  })

const none = 'There are no dead letters. (They are kept for an hour; the log of functions/dead-letters has all of them.)'

const lines = (letters: readonly LetterView[], wide: boolean): string =>
  table(
    ['ID', 'TIME', 'FUNCTION', 'ANSWER', 'EVENT', 'ABOUT', ...(wide ? ['KEPT'] : [])],
    letters.map(({ id, time, by, code, type, subject, kept }) => [
      id,
      time.slice(0, 19),
      by,
      code,
      type,
      subject,
      ...(wide ? [kept ? 'yes' : 'no'] : [])
    ])
  )

/** Gives 1 when one of them cannot be sent again. */
export const replayLetters = (ids: readonly string[], options: ReplayOptions): Promise<number> =>
  onCluster('deadletters replay', options, async kube => {
    if (ids.length === 0 && !options.all) throw new Trouble('name the letters, or --all of them; `drover deadletters` lists them')
    const known = await read(kube)
    const names = known.map(({ metadata }) => metadata?.name ?? '')
    const unknown = ids.find(id => !names.includes(id))
    if (unknown !== undefined)
      throw new Trouble(`there is no dead letter ${unknown}; ${hint(unknown, names, '`drover deadletters` lists them')}`)
    const chosen = options.all ? known : known.filter(({ metadata }) => ids.includes(metadata?.name ?? ''))
    const outcomes: Array<{ id: string; sent: boolean; line: string }> = []
    for (const letter of chosen) outcomes.push(await replay(kube, letter, options))
    say(asData(options.output, outcomes) ?? (outcomes.map(({ id, line }) => `${id}: ${line}`).join('\n') || none))
    return outcomes.every(({ sent }) => sent) ? 0 : 1
  })

async function replay(kube: Kube, { metadata }: Event, { broker }: ReplayOptions) {
  const { name: id = '', namespace = '', annotations = {} } = metadata ?? {}
  const event = annotations[deadLetter.annotations.event]
  if (event === undefined)
    return { id, sent: false, line: 'what it carried was not kept; the next tick looks at everything anyway' }
  await send(broker ?? (await brokerAddress(kube, namespace)), event)
  return { id, sent: true, line: `sent again${await forget(kube, id, namespace)}` }
}

/** If it fails once more it is written down once more. */
async function forget(kube: Kube, name: string, namespace: string): Promise<string> {
  try {
    await kube.delete(Event, { name, namespace })
    return ''
  } catch (err) {
    if (!(err instanceof KubeError) || err.code !== 'Forbidden') throw err
    return ' (it stays in the list: you may not delete Events)'
  }
}
