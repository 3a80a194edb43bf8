import { allKinds } from './index.ts'

const start = '<!-- events: npm run docs -->'
const end = '<!-- /events -->'
const code = (text: string): string => `\`${text}\``

function table(): string {
  const rows = allKinds.map(({ type, emittedBy, reactedBy, summary }) =>
    [code(type), emittedBy, reactedBy.join(', ') || '–', summary.replaceAll('|', '\\|')].join(' | ')
  )
  return ['| type | said by | heard by | meaning |', '|---|---|---|---|', ...rows.map(row => `| ${row} |`)].join('\n')
}

/** The text with its table of events as the code has it now. */
export function withTable(text: string): string {
  const from = text.indexOf(start)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`no place for the table of events: ${start} … ${end}`)
  return `${text.slice(0, from + start.length)}\n${table()}\n${text.slice(to)}`
}
