// HA-17: the alerts ask for metrics, states and signals that there are.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import t from 'tap'
import { parse } from 'yaml'
import { haMetrics } from '../../../functions/ha/metrics.ts'

const root = join(import.meta.dirname, '../../..')
const text = await readFile(join(root, 'knative/components/monitoring/ha.yaml'), 'utf8')
interface Rule {
  alert: string
  expr: string
}
const rules = (parse(text) as { spec: { groups: { rules: Rule[] }[] } }).spec.groups.flatMap(({ rules }) => rules)

t.test('every metric and every word of a rule is one of the code', async t => {
  const registry = new Registry()
  haMetrics(registry, () => new Date())
  const known = new Set(registry.getMetricsAsArray().map(({ name }) => name))
  const files = ['decide', 'ladder', 'endings', 'signals/correlated'].map(name => join(root, `functions/ha/${name}.ts`))
  const code = (await Promise.all(files.map(file => readFile(file, 'utf8')))).join('')
  for (const { alert, expr } of rules) {
    for (const [name] of expr.matchAll(/drover_[a-z_]+/g)) t.ok(known.has(name), `${alert}: ${name}`)
    for (const [, words = ''] of expr.matchAll(/(?:state|kind)=~?"([^"]+)"/g))
      for (const word of words.split('|')) t.ok(code.includes(`'${word}'`), `${alert}: ${word}`)
  }
  t.equal(rules.length, 5)
})
