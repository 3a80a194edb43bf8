// A process that tries many mutants of one source file on one test file: a process for each would spend most of its time on starting.
// For each mutant the test file, its helpers and all that depends on the source file are loaded again; the rest is loaded once.
import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Test, type TestOpts } from 'tap'
import type { Change } from './mutators.ts'

export interface Task {
  /** Absolute paths. */
  test: string
  source: string
  /** What is loaded again for each mutant: everything between the two. */
  between: string[]
}
/** No change: the source as it is. */
export interface Trial {
  number: number
  change: Change | null
}
export interface Verdict {
  number: number
  passed: boolean
  /** This process ends now: it is not known what state it is in. */
  last: boolean
}

const { test, source, between } = JSON.parse(process.env['DROVER_MUTATE'] as string) as Task
const again = new Set(between.map(path => pathToFileURL(path).href))
const sourceUrl = pathToFileURL(source).href
const original = readFileSync(source, 'utf8')
const stripped = new Map<string, string>()
const tests = new Map<string, Test>()
let change: Change | null = null

function codeOf(url: string): string {
  if (url === sourceUrl && change !== null)
    return stripTypeScriptTypes(original.slice(0, change.start) + change.text + original.slice(change.end))
  const code = stripped.get(url) ?? stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'))
  stripped.set(url, code)
  return code
}

const trialOf = (url: string | undefined): string | undefined => url?.split('?trial=')[1]

registerHooks({
  resolve(specifier, context, next) {
    const trial = trialOf(context.parentURL)
    if (trial === undefined) return next(specifier, context)
    if (specifier === 'tap') return { url: `drover-mutate:tap?trial=${trial}`, format: 'module', shortCircuit: true }
    const found = next(specifier, context)
    return again.has(found.url) ? { ...found, url: `${found.url}?trial=${trial}` } : found
  },
  load(url, context, next) {
    const trial = trialOf(url)
    if (trial === undefined) return next(url, context)
    if (url.startsWith('drover-mutate:tap')) {
      const code = `const t = globalThis.droverMutate('${trial}')\nexport default t\nexport const Test = t.constructor`
      return { format: 'module', source: code, shortCircuit: true }
    }
    return { format: 'module', source: codeOf(url.replace(/\?trial=.*/, '')), shortCircuit: true }
  }
})
Object.assign(globalThis, { droverMutate: (trial: string) => tests.get(trial) })

async function passes(trial: Trial): Promise<boolean> {
  change = trial.change
  const options: TestOpts = { name: 'mutant', bail: true }
  const t = new Test(options)
  tests.set(String(trial.number), t)
  t.resume()
  const ended = new Promise<void>(resolve => t.on('end', () => resolve()))
  try {
    await import(`${pathToFileURL(test).href}?trial=${trial.number}`)
  } catch {
    return false // the module does not even load
  }
  t.end()
  await ended
  return t.passing()
}

let now = 0
const reply = (passed: boolean, last = false): void => void process.send?.({ number: now, passed, last } satisfies Verdict)

process.on('uncaughtException', () => reply(false, true)) // an error that nobody waits for fails the mutant, too
process.on('message', (trial: Trial) => {
  now = trial.number
  void passes(trial).then(passed => reply(passed))
})
