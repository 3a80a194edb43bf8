import { parseAst } from 'rolldown/parseAst'
import { mutators, type Change, type Node } from './mutators.ts'

export interface Mutant extends Change {
  /** From the root of the repository. */
  file: string
  /** From 1, as an editor counts. */
  line: number
  column: number
  original: string
  /** The whole line in which the change begins, trimmed: what stays when lines move. */
  context: string
}

/** Wrappers of TypeScript around an expression that runs; every other node of TypeScript is gone when the code runs. */
const transparent = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

/** The parts of a node that run: no types, no names, no paths of modules. */
function* parts(node: Node): Generator<Node> {
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return
  for (const [name, value] of Object.entries(node)) {
    if (name === 'key' && node['computed'] !== true) continue
    if (name === 'source' || name === 'specifiers') continue
    for (const part of Array.isArray(value) ? value : [value])
      if (isNode(part) && (!part.type.startsWith('TS') || transparent.has(part.type))) yield part
  }
}

/** Every small wrong change of a file, in the order in which they stand in it. */
export function mutantsOf(file: string, code: string): Mutant[] {
  const changes = new Map<string, Change>()
  const visit = (node: Node, parent: Node): void => {
    for (const change of mutators[node.type]?.(node, code, parent) ?? [])
      changes.set(`${change.start}:${change.end}:${change.text}`, change)
    for (const part of parts(node)) visit(part, node)
  }
  const program = parse(code)
  visit(program, program)
  return [...changes.values()]
    .filter(change => parses(apply(code, change)))
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .map(({ start, end, text }) => {
      const lineStart = code.lastIndexOf('\n', start - 1) + 1
      return {
        start,
        end,
        text,
        file,
        line: code.slice(0, start).split('\n').length,
        column: start - lineStart + 1,
        original: code.slice(start, end),
        context: (code.slice(lineStart).split('\n', 1)[0] as string).trim()
      }
    })
}

export const apply = (code: string, { start, end, text }: Change): string => code.slice(0, start) + text + code.slice(end)

const parse = (code: string): Node => parseAst(code, { lang: 'ts', astType: 'ts' }) as unknown as Node

function parses(code: string): boolean {
  try {
    parse(code)
    return true
  } catch {
    return false // such a change would not pass for code
  }
}
