// A bench declares its figures before it measures, so that one it could not take is seen to be missing.
import { median, percentile } from './statistics.ts'

export type Goal = { atLeast: number } | { atMost: number }
export const atLeast = (value: number): Goal => ({ atLeast: value })
export const atMost = (value: number): Goal => ({ atMost: value })

export interface Declared {
  unit: string
  goal?: Goal
  /** The peer: the figure is then the median of ours ÷ peer over the rounds, and the goal is about that. */
  against?: string
  /** Which of the runs counts; the median if nothing is said. */
  of?: 'median' | 'p50' | 'p95' | 'p99' | 'max' | 'min'
  /** What a reader has to know beside the figure: a limit that was raised, a part that was taken out. */
  note?: string
}

export type Figures = Readonly<Record<string, Declared>>

export interface Report {
  (name: string, runs: number | readonly number[], more?: { peer?: readonly number[]; note?: string }): void
  /** A figure whose name only the run knows; it cannot be missing. */
  also: (name: string, declared: Declared, runs: number | readonly number[]) => void
  /** How often each side of a comparison is measured: as often as the bench does by itself, or as `--rounds` says. */
  rounds: (usual: number) => number
}

export interface Bench {
  figures: Figures
  run: (report: Report) => Promise<void>
}

/** `no goal` is only printed; `not taken` counts as missed. */
export type Verdict = 'met' | 'missed' | 'no goal' | 'not taken'

interface Side {
  median: number
  min: number
  max: number
}

export interface Row {
  name: string
  value: number | null
  unit: string
  goal: string | null
  verdict: Verdict
  /** Of how many runs or samples, with their median and spread. */
  runs: number
  median: number | null
  spread: [min: number, max: number] | null
  of: NonNullable<Declared['of']>
  ours: Side | null
  peer: (Side & { name: string }) | null
  unitOfSides: string | null
  note: string
}

const goalText = (goal: Goal | undefined): string | null => {
  if (goal === undefined) return null
  return 'atLeast' in goal ? `>= ${rounded(goal.atLeast)}` : `<= ${rounded(goal.atMost)}`
}

const isMet = (goal: Goal, value: number): boolean => ('atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost)

export const rounded = (value: number): number => Number(value.toPrecision(4))

const sideOf = (runs: readonly number[]): Side => ({
  median: rounded(median(runs)),
  min: rounded(Math.min(...runs)),
  max: rounded(Math.max(...runs))
})

function statisticOf(of: NonNullable<Declared['of']>, runs: readonly number[]): number {
  if (of === 'median') return median(runs)
  if (of === 'max') return Math.max(...runs)
  if (of === 'min') return Math.min(...runs)
  return percentile(runs, Number(of.slice(1)))
}

const notes = (...all: Array<string | undefined>): string => all.filter(Boolean).join('; ')

export function notTaken(name: string, { unit, goal, of = 'median', against, note }: Declared, why: string): Row {
  const nothing = { value: null, runs: 0, median: null, spread: null, ours: null, peer: null, unitOfSides: null }
  return { name, ...nothing, unit: against ? '×' : unit, goal: goalText(goal), verdict: 'not taken', of, note: notes(why, note) }
}

export function rowOf(
  name: string,
  declared: Declared,
  ours: readonly number[],
  { peer, note }: { peer?: readonly number[]; note?: string } = {}
): Row {
  const { unit, goal, against, of = 'median' } = declared
  if ((against === undefined) !== (peer === undefined)) throw new Error(`${name}: a peer is declared, or measured, but not both`)
  if (peer && peer.length !== ours.length) throw new Error(`${name}: ${ours.length} runs of ours and ${peer.length} of the peer`)
  const runs = peer ? ours.map((value, round) => value / (peer[round] as number)) : ours
  const value = statisticOf(of, runs)
  // NaN would be neither met nor missed
  if (runs.length === 0 || !runs.every(Number.isFinite))
    return notTaken(name, declared, `no number: ${runs.slice(0, 5).join(', ') || 'no run'}`)
  const side = sideOf(runs)
  return {
    name,
    value: rounded(value),
    unit: peer ? '×' : unit,
    goal: goalText(goal),
    verdict: goal === undefined ? 'no goal' : isMet(goal, value) ? 'met' : 'missed',
    runs: runs.length,
    median: side.median,
    spread: [side.min, side.max],
    of,
    ours: peer ? sideOf(ours) : null,
    peer: peer ? { name: against ?? '', ...sideOf(peer) } : null,
    unitOfSides: peer ? unit : null,
    note: notes(note, declared.note)
  }
}
