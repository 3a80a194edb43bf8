import { dirname } from 'node:path'
import type { Mutant } from './mutants.ts'

export interface Outcome {
  mutant: Mutant
  /** `unreached`: no test runs this code at all. */
  result: 'killed' | 'endless' | 'survived' | 'unreached' | 'not tried'
  /** The test file that noticed it. */
  by?: string
}

export const isAlive = ({ result }: Outcome): boolean => result === 'survived' || result === 'unreached'
export const folderOf = (file: string): string => dirname(file)

export function scoreOf(outcomes: readonly Outcome[]): number {
  const tried = outcomes.filter(({ result }) => result !== 'not tried')
  return tried.length === 0 ? 100 : (100 * tried.filter(outcome => !isAlive(outcome)).length) / tried.length
}

const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 90 ? `${line.slice(0, 87)}...` : line
}

/** One survivor in a line: where, and what was changed to what. */
export function survivorLine({ mutant: { file, line, column, original, text }, result }: Outcome): string {
  return `${file}:${line}:${column}  ${short(original)}  →  ${short(text) || 'nothing'}${result === 'unreached' ? '  (no test runs it)' : ''}`
}

/** A row for each file and for the folder. */
export function table(folder: string, outcomes: readonly Outcome[], seconds: number): string[] {
  const row = (name: string, of: readonly Outcome[]): string => {
    const alive = of.filter(isAlive).length
    const untried = of.filter(({ result }) => result === 'not tried').length
    const endless = of.filter(({ result }) => result === 'endless').length
    const killed = of.length - alive - untried
    return [
      name.padEnd(56),
      `${killed} of ${of.length - untried} killed`.padEnd(22),
      `${alive} survived`.padEnd(14),
      `${scoreOf(of).toFixed(1)} %`.padStart(8),
      endless > 0 ? `  ${endless} endless` : '',
      untried > 0 ? `  ${untried} not tried` : ''
    ].join('')
  }
  const files = Map.groupBy(outcomes, ({ mutant }) => mutant.file)
  return [...[...files].map(([file, of]) => row(`  ${file}`, of)), `${row(folder, outcomes)}  in ${Math.round(seconds)} s`]
}
