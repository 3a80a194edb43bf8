// The JSONPath of printer columns and selectable fields: fields, indexes, [*] and filters that compare a field with a literal.
import { isFields, listOf } from './object.ts'

type Step = { field: string } | { index: number } | { all: true } | { filter: { path: Step[]; equals: unknown } }

const token =
  /\.?((?:[^.[\]\\]|\\.)+)|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d+)|(\*)|\?\(@((?:\.(?:[^.=\s\\]|\\.)+)+)\s*==\s*('[^']*'|"[^"]*"|[^)\s]+)\s*\))\]/gy

export function jsonPath(text: string): (value: unknown) => unknown {
  const steps = parse(text.replace(/^\{(.*)\}$/, '$1').replace(/^\$/, ''))
  return value => find([value], steps)[0]
}

function parse(text: string): Step[] {
  const steps: Step[] = []
  for (const [, field, single, double, index, all, path, literal] of text.matchAll(token)) {
    const name = field ?? single ?? double
    if (name !== undefined) steps.push({ field: name.replaceAll(/\\(.)/g, '$1') })
    else if (index !== undefined) steps.push({ index: Number(index) })
    else if (all !== undefined) steps.push({ all: true })
    else if (path !== undefined && literal !== undefined)
      steps.push({ filter: { path: parse(path), equals: parseLiteral(literal) } })
  }
  return steps
}

function parseLiteral(text: string): unknown {
  if (text.startsWith("'")) return text.slice(1, -1)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function find(values: unknown[], steps: Step[]): unknown[] {
  let found = values
  for (const step of steps) {
    found = found.flatMap(value => {
      if ('field' in step) return isFields(value) && value[step.field] !== undefined ? [value[step.field]] : []
      if ('index' in step) return Array.isArray(value) && value.length > 0 ? [value.at(step.index)] : []
      if ('all' in step) return isFields(value) ? Object.values(value) : listOf(value)
      return listOf(value).filter(item => find([item], step.filter.path)[0] === step.filter.equals)
    })
  }
  return found
}
