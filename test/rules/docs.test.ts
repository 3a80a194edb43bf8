import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { withRules } from '../../functions/admission/rule-table.ts'

t.test('the table of rules is that of the code: npm run docs', async t => {
  const text = await readFile(join(import.meta.dirname, '../../functions/admission/README.md'), 'utf8')
  t.equal(withRules(text), text)
  const wanted = [
    ...Array.from({ length: 17 }, (_, i) => `A${i + 1}`),
    ...Array.from({ length: 10 }, (_, i) => `W${i + 1}`),
    'R1',
    'R2',
    'R3',
    'R4',
    'R5',
    'HV-11',
    'HV-12',
    'HV-13',
    'HV-14',
    'OV-5'
  ]
  for (const id of wanted) t.match(text, `\n| ${id} |`, `${id} is in it`)
})
