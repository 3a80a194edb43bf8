import { stringify } from 'yaml'
import { styleText } from 'node:util'
import type { Tone } from '../view/types.ts'

export const formats = ['text', 'wide', 'json', 'yaml'] as const
export type Format = (typeof formats)[number]

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

const colours = { ok: 'green', busy: 'cyan', rest: 'gray', warn: 'yellow', bad: 'red' } as const satisfies Record<Tone, string>

/** Plain when it goes into a pipe, or NO_COLOR asks for it. */
export const toned = (tone: Tone, text: string): string => styleText(colours[tone], text, { stream: process.stdout })

type Cell = string | { text: string; tone: Tone }
const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text)

/** Columns as kubectl has them. */
export function table(head: readonly string[], rows: ReadonlyArray<readonly Cell[]>): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map(row => textOf(row[i] ?? '').length)))
  const line = (cells: readonly Cell[]): string =>
    cells
      .map((cell, i) => {
        const padded = textOf(cell).padEnd(i === cells.length - 1 ? 0 : (widths[i] ?? 0))
        return typeof cell === 'string' ? padded : toned(cell.tone, padded)
      })
      .join('   ')
      .trimEnd()
  return [line(head), ...rows.map(line)].join('\n')
}

/** The same for machines; undefined when people are to read it. */
export function asData(format: Format, value: unknown): string | undefined {
  if (format === 'json') return JSON.stringify(value, undefined, 2)
  return format === 'yaml' ? stringify(value).trimEnd() : undefined
}

/** One of many that come one after the other: a line of JSON, or a document of YAML. */
export function sayOne(format: Format, value: unknown, text: string): void {
  if (format === 'json') say(JSON.stringify(value))
  else if (format === 'yaml') say(`---\n${stringify(value).trimEnd()}`)
  else say(text)
}
