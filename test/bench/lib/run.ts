// Runs one bench and gives a row for each figure that it declared, whatever became of it.
import { notTaken, rowOf, type Bench, type Report, type Row } from './figures.ts'

export interface RunOptions {
  rounds?: number | undefined
  /** Why nothing is measured at all. */
  refused?: string | undefined
}

export async function runBench(name: string, load: () => Promise<Bench>, { rounds, refused }: RunOptions = {}): Promise<Row[]> {
  let bench: Bench
  try {
    bench = await load()
  } catch (err) {
    return [failed(name, err)]
  }
  const { figures } = bench
  const taken = new Map<string, Row>()
  const add = (row: Row): void => {
    if (taken.has(row.name)) throw new Error(`${row.name} was reported twice`)
    taken.set(row.name, row)
  }
  const many = (runs: number | readonly number[]): readonly number[] => (typeof runs === 'number' ? [runs] : runs)
  const report: Report = Object.assign(
    (figure: string, runs: number | readonly number[], more = {}) => {
      const declared = figures[figure]
      if (!declared) throw new Error(`${figure} is not declared`)
      add(rowOf(figure, declared, many(runs), more))
    },
    {
      also: (...[figure, declared, runs]: Parameters<Report['also']>) => add(rowOf(figure, declared, many(runs))),
      rounds: (usual: number) => rounds ?? usual
    }
  )
  let why = refused
  if (why === undefined) {
    const crash = Promise.withResolvers<never>()
    process.on('uncaughtException', crash.reject) // an error that no one awaits would end us without a table
    try {
      await Promise.race([bench.run(report), crash.promise])
    } catch (err) {
      console.error(err)
      why = messageOf(err)
    } finally {
      process.off('uncaughtException', crash.reject)
    }
  }
  const missing = Object.entries(figures).filter(([figure]) => !taken.has(figure))
  for (const [figure, declared] of missing) add(notTaken(figure, declared, why ?? 'the bench did not report it'))
  if (why !== undefined && missing.length === 0) add(failed(name, why)) // after its last figure, as while it closed
  return [...taken.values()]
}

const messageOf = (err: unknown): string => (err instanceof Error ? err.message : String(err)).split('\n')[0] ?? ''
const failed = (name: string, err: unknown): Row => notTaken(`${name}.failed`, { unit: '' }, messageOf(err))

/** 1 when a goal was missed or a figure is not there. */
export const exitCodeOf = (rows: readonly Row[]): 0 | 1 =>
  rows.some(({ verdict }) => verdict === 'missed' || verdict === 'not taken') ? 1 : 0

const number = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 4 })

/** A line for each figure; what has to be known beside it stands behind it. */
export function tableOf(rows: readonly Row[], { busy = false } = {}): string {
  const head = ['verdict', 'figure', 'value', 'goal', 'runs', 'median, spread', '']
  const cells = rows.map(row => [
    `${row.verdict === 'missed' || row.verdict === 'not taken' ? row.verdict.toUpperCase() : row.verdict}${busy ? ', busy' : ''}`,
    row.name,
    row.value === null ? '–' : `${number(row.value)} ${row.unit}`,
    row.goal === null ? '' : `${row.goal} ${row.unit}`,
    `${row.of === 'median' ? '' : `${row.of} of `}${row.runs}`,
    row.spread === null || row.median === null || row.runs < 2
      ? ''
      : `${number(row.median)}, ${number(row.spread[0])} to ${number(row.spread[1])}`,
    [sidesOf(row), row.note].filter(Boolean).join('; ')
  ])
  const widths = head.map((title, column) => Math.max(...[head, ...cells].map(line => (line[column] ?? title).length)))
  const line = (texts: readonly string[]): string =>
    texts.map((text, column) => (column === texts.length - 1 ? text : text.padEnd(widths[column] ?? 0))).join('  ')
  return [head, ...cells].map(texts => line(texts).trimEnd()).join('\n')
}

const sidesOf = ({ ours, peer, unitOfSides }: Row): string =>
  ours && peer ? `${number(ours.median)} to ${number(peer.median)} ${unitOfSides}, against ${peer.name}` : ''

/** The last line: what was wrong. */
export function summaryOf(rows: readonly Row[]): string {
  const count = (verdict: Row['verdict']): number => rows.filter(row => row.verdict === verdict).length
  const goals = rows.filter(({ goal }) => goal !== null).length
  return `${count('met')} of ${goals} goals met, ${count('missed')} missed; ${count('not taken')} of ${rows.length} figures not taken`
}
