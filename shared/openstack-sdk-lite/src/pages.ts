// Long lists come in pages. A generator asks for the next one only when the reader has come that far.
import type { Answer } from './call.ts'
import { row, rows, text, textOrNull } from './decode.ts'
import { OpenStackError } from './error.ts'

export interface Page<T> {
  items: T[]
  /** where the next page begins; null after the last */
  marker: string | null
}

/** Nova: {"servers": […], "servers_links": [{"rel": "next", "href": "…?marker=…"}]} */
export const decodePage =
  <T>(key: string, decode: (item: Readonly<Record<string, unknown>>) => T) =>
  ({ body }: Answer): Page<T> => {
    const page = row(body)
    return { items: rows(page, key).map(decode), marker: nextMarker(page, `${key}_links`) }
  }

// Only the marker is taken from the link: its host may be one that the service knows under another name, and the token must not go there.
function nextMarker(page: Readonly<Record<string, unknown>>, key: string): string | null {
  if (page[key] === undefined) return null
  const next = rows(page, key).find(link => textOrNull(link, 'rel') === 'next')
  return next ? new URL(text(next, 'href'), 'http://nowhere').searchParams.get('marker') : null
}

export async function* stream<T>(fetch: (marker: string | undefined) => Promise<Page<T>>): AsyncGenerator<T> {
  let marker: string | undefined
  for (;;) {
    const page = await fetch(marker)
    yield* page.items
    if (page.marker === null) return
    if (page.marker === marker) throw new OpenStackError('BadAnswer', `the page after ${marker} is itself`)
    marker = page.marker
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
