// The part of PromQL that the alerts use: selectors, comparisons with a number, set operators, a few functions. Anything else is an error.
import type { Labels, Sample } from './state-metrics.ts'

/** What would be scraped at a time, in seconds. */
export type Scene = (seconds: number) => Sample[]
type Value = Sample[] | number
type Evaluate = (scene: Scene, now: number) => Value

const token = /\s*(?:(\d+(?:\.\d+)?)([smhd]?)|([A-Za-z_]\w*)|"([^"]*)"|(==|!=|=~|>=|<=|[=><{}()[\],-]))/y
const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, '': 1 }

export const secondsOf = (duration: string): number => {
  const [, amount = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? []
  return Number(amount) * (units[unit] ?? Number.NaN)
}

type Token = { kind: 'number' | 'word' | 'text' | 'sign'; text: string; value: number }

function tokensOf(expression: string): Token[] {
  const tokens: Token[] = []
  token.lastIndex = 0
  while (token.lastIndex < expression.trimEnd().length) {
    const start = token.lastIndex
    const [, number, unit = '', word, text, sign] = token.exec(expression) ?? []
    if (number !== undefined) tokens.push({ kind: 'number', text: number + unit, value: Number(number) * (units[unit] ?? 1) })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, value: 0 })
    else if (text !== undefined) tokens.push({ kind: 'text', text, value: 0 })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, value: 0 })
    else throw new Error(`not understood: ${expression.slice(start)}`)
  }
  return tokens
}

const vector = (value: Value): Sample[] => {
  if (typeof value === 'number') throw new Error('a number where series are wanted')
  return value
}
const keyOf = (labels: Labels, on?: string[]): string =>
  JSON.stringify(
    Object.entries(labels)
      .filter(([label]) => !on || on.includes(label))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  )

export function parse(expression: string): Evaluate {
  const tokens = tokensOf(expression)
  let next = 0
  const peek = (text: string): boolean => tokens[next]?.kind !== 'text' && tokens[next]?.text === text
  const take = (text?: string): Token => {
    const found = tokens[next++]
    if (!found || (text !== undefined && found.text !== text)) throw new Error(`expected ${text}, found ${found?.text}`)
    return found
  }
  const names = (): string[] => {
    const found: string[] = []
    take('(')
    while (!peek(')')) {
      found.push(take().text)
      if (peek(',')) take(',')
    }
    take(')')
    return found
  }

  function selector(name: string): { pick: (scene: Scene, now: number) => Sample[]; range: number } {
    const tests: Array<(labels: Labels) => boolean> = []
    if (peek('{')) {
      take('{')
      while (!peek('}')) {
        const label = take().text
        const how = take().text
        const wanted = take().text
        const pattern = new RegExp(`^(?:${wanted})$`)
        if (how !== '=' && how !== '=~') throw new Error(`no matcher ${how}`)
        tests.push(labels => (how === '=' ? (labels[label] ?? '') === wanted : pattern.test(labels[label] ?? '')))
        if (peek(',')) take(',')
      }
      take('}')
    }
    let range = 0
    let offset = 0
    if (peek('[')) {
      take('[')
      range = take().value
      take(']')
    }
    if (peek('offset')) {
      take('offset')
      offset = take().value
    }
    const pick = (scene: Scene, now: number): Sample[] =>
      scene(now - offset).filter(sample => sample.name === name && tests.every(test => test(sample.labels)))
    return { pick, range }
  }

  function ranged(per: 'second' | 'range'): Evaluate {
    take('(')
    const { pick, range } = selector(take().text)
    take(')')
    if (range === 0) throw new Error('a range is wanted')
    return (scene, now) => {
      // as Prometheus: a series that was not there before has no increase
      const before = new Map(pick(scene, now - range).map(({ labels, value }) => [keyOf(labels), value]))
      return pick(scene, now)
        .filter(({ labels }) => before.has(keyOf(labels)))
        .map(({ name, labels, value }) => {
          const increase = value - (before.get(keyOf(labels)) ?? 0)
          return { name, labels, value: per === 'second' ? increase / range : increase }
        })
    }
  }

  function atom(): Evaluate {
    const { kind, text, value } = take()
    if (kind === 'number') return () => value
    if (text === '(') {
      const inner = either()
      take(')')
      return inner
    }
    if (text === 'time') {
      names()
      return (_, now) => now
    }
    if (text === 'rate' || text === 'increase') return ranged(text === 'rate' ? 'second' : 'range')
    if (text === 'absent') {
      const inner = atom()
      return (scene, now) => (vector(inner(scene, now)).length > 0 ? [] : [{ name: '', labels: {}, value: 1 }])
    }
    if (text === 'sum') {
      const by = peek('by') ? (take('by'), names()) : []
      const inner = atom()
      return (scene, now) =>
        [...Map.groupBy(vector(inner(scene, now)), ({ labels }) => keyOf(labels, by))].map(([key, samples]) => ({
          name: '',
          labels: Object.fromEntries(JSON.parse(key) as [string, string][]),
          value: samples.reduce((sum, sample) => sum + sample.value, 0)
        }))
    }
    if (kind !== 'word') throw new Error(`not understood: ${text}`)
    const { pick, range } = selector(text)
    if (range !== 0) throw new Error('a range stands alone')
    return pick
  }

  function difference(): Evaluate {
    const left = atom()
    if (!peek('-')) return left
    take('-')
    const right = atom()
    return (scene, now) => {
      const from = left(scene, now)
      if (typeof from !== 'number') throw new Error('only a number can be taken from')
      return vector(right(scene, now)).map(({ name, labels, value }) => ({ name, labels, value: from - value }))
    }
  }

  function comparison(): Evaluate {
    const left = difference()
    if (!peek('==') && !peek('>')) return left
    const sign = take().text
    const limit = take().value
    return (scene, now) => vector(left(scene, now)).filter(({ value }) => (sign === '==' ? value === limit : value > limit))
  }

  function both(): Evaluate {
    let left = comparison()
    while (peek('and') || peek('unless')) {
      const keeps = take().text === 'and'
      const on = peek('on') ? (take('on'), names()) : undefined
      const [first, right] = [left, comparison()]
      left = (scene, now) => {
        const known = new Set(vector(right(scene, now)).map(({ labels }) => keyOf(labels, on)))
        return vector(first(scene, now)).filter(({ labels }) => known.has(keyOf(labels, on)) === keeps)
      }
    }
    return left
  }

  function either(): Evaluate {
    let left = both()
    while (peek('or')) {
      take('or')
      const [first, right] = [left, both()]
      left = (scene, now) => {
        const found = vector(first(scene, now))
        const known = new Set(found.map(({ labels }) => keyOf(labels)))
        return [...found, ...vector(right(scene, now)).filter(({ labels }) => !known.has(keyOf(labels)))]
      }
    }
    return left
  }

  const whole = either()
  if (next < tokens.length) throw new Error(`not understood: ${tokens[next]?.text}`)
  return whole
}

/** Whether a rule fires at `now`: its expression must have held, for the same series, all through its `for`. */
export function firing({ expr, for: lasting }: { expr: string; for: string }, scene: Scene, now: number): Sample[] {
  const evaluate = parse(expr)
  const span = secondsOf(lasting)
  const steps = span === 0 ? [0] : Array.from({ length: 61 }, (_, step) => (span * step) / 60)
  const passes = steps.map(ago => vector(evaluate(scene, now - ago)))
  const [last = [], ...earlier] = passes
  return last.filter(({ labels }) => earlier.every(pass => pass.some(sample => keyOf(sample.labels) === keyOf(labels))))
}
