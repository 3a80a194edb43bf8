/** One measured figure. With a peer the goal is about the ratio ours/peer, without one about our own figure. */
export interface Figure {
  name: string
  ours: number
  peer?: number
  goal?: { atLeast: number } | { atMost: number }
  unit: string
}

export type Report = (figure: Figure) => void

export interface Bench {
  name: string
  run: (report: Report) => Promise<void>
}

export interface Row {
  name: string
  ours: number
  peer: number | null
  ratio: number | null
  goal: string | null
  met: boolean | null
  unit: string
}

const rounded = (value: number): number => Number(value.toPrecision(4))

export function rowOf({ name, ours, peer, goal, unit }: Figure): Row {
  const ratio = peer === undefined ? null : ours / peer
  const judged = ratio ?? ours
  return {
    name,
    ours: rounded(ours),
    peer: peer === undefined ? null : rounded(peer),
    ratio: ratio === null ? null : rounded(ratio),
    goal: goal === undefined ? null : 'atLeast' in goal ? `>=${goal.atLeast}` : `<=${goal.atMost}`,
    met: goal === undefined ? null : 'atLeast' in goal ? judged >= goal.atLeast : judged <= goal.atMost,
    unit
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
