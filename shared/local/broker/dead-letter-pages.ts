// Dead letters by HTTP, beside the ingress: `-` is no name of a namespace.
//   GET /-/dead-letters · POST /-/dead-letters/ID/replay · DELETE /-/dead-letters/ID
import type { DeadLetter } from './dead-letters.ts'
import type { Answer } from './types.ts'

export interface LetterBox {
  list: () => DeadLetter[]
  replay: (id: number) => Promise<'replayed' | 'unknown' | 'no trigger' | 'full'>
  drop: (id: number) => Promise<boolean>
}

const folder = '/-/dead-letters'

export const isLetterPage = (url: string): boolean => url === folder || url.startsWith(`${folder}/`)

const json = (status: number, value: unknown): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: `${JSON.stringify(value, null, 2)}\n`
})

const replays = {
  replayed: json(202, { outcome: 'replayed' }),
  unknown: json(404, { outcome: 'there is no such dead letter' }),
  'no trigger': json(409, { outcome: 'its Trigger is gone' }),
  full: json(429, { outcome: 'too many events are waiting' })
}

export async function letterPage(method: string, url: string, letters: LetterBox): Promise<Answer> {
  if (url === folder) return method === 'GET' ? json(200, letters.list()) : { status: 405 }
  const [, number = '', action] = /^\/-\/dead-letters\/(\d+)(\/replay)?$/.exec(url) ?? []
  if (number === '')
    return json(404, { outcome: 'GET /-/dead-letters, POST /-/dead-letters/ID/replay, DELETE /-/dead-letters/ID' })
  const id = Number(number)
  if (action && method === 'POST') return replays[await letters.replay(id)]
  if (!action && method === 'DELETE') return (await letters.drop(id)) ? { status: 204 } : replays.unknown
  return { status: 405 }
}
