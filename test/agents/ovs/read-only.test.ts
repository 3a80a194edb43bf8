// What the agent never does: follow what it does not need, start a process, write to the database.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { statisticsColumns, switchTables } from '../../../agents/ovs/tables.ts'

const agents = join(import.meta.dirname, '../../../agents/ovs')

t.test('OV-6, OV-7, OV-15 only what is needed is followed, and neither counters nor controllers', async t => {
  t.strictSame(Object.keys(switchTables), ['Open_vSwitch', 'Bridge', 'Port', 'Interface', 'sFlow', 'Mirror'])
  const followed = Object.values(switchTables).flatMap(columns => Object.keys(columns))
  t.notOk(followed.includes('statistics'))
  t.notOk('status' in switchTables.Port)
  t.strictSame(Object.keys(statisticsColumns), ['name', 'statistics'])
})

t.test('OV-9, OV-17 no process is started, and only the rows of captures are written', async t => {
  const writers: string[] = []
  for (const file of await Array.fromAsync(glob('**/*.ts', { cwd: agents }))) {
    const text = await readFile(join(agents, file), 'utf8')
    t.notMatch(text, /child_process|worker_threads|\.node'/, file)
    if (/\b(insert|update|mutate|remove)\b[^\n]* from 'ovsdb-client'/.test(text)) writers.push(file)
  }
  t.strictSame(writers, ['capture/rows.ts'])
})
