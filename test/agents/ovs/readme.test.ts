import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { config } from '../../../agents/ovs/config.ts'
import { ovsAgent } from '../../../agents/ovs/agent.ts'
import { helpText, settingsTable } from '../../../shared/runtime/help.ts'

const readme = await readFile(join(import.meta.dirname, '../../../agents/ovs/README.md'), 'utf8')

t.test('the README lists every setting, as the code has it', async t => {
  const [, table = ''] = /<!-- settings:[^>]*-->\n([^]*?)\n<!-- \/settings -->/.exec(readme) ?? []
  t.equal(table, settingsTable(config))
})

t.test('--help names every variable, its default and whether it is needed', async t => {
  const help = helpText(ovsAgent.name, ovsAgent.config)
  t.match(help, /NODE_NAME\n {6}the Node .*required/)
  t.match(help, /HEARTBEAT\n {6}.*default 30s/)
  t.match(help, /EXPECTED_BRIDGES\n {6}.*default br-int,br-ex,br-provider\?/)
})
