// The policy: every word of it is known, and a change of its file reaches the function; and what is counted.
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import t from 'tap'
import { haMetrics } from '../../../functions/ha/metrics.ts'
import { parsePolicy, policyFile, PolicyError } from '../../../functions/ha/policy-file.ts'
import { domainCrashed } from '../../../shared/events/libvirt.ts'
import { createLog } from '../../../shared/runtime/log.ts'
import { action, defaultPolicy, drover, life, world } from './fixtures.ts'
import { ovs, run } from './host-fixtures.ts'

t.test('the policy', async t => {
  t.throws(() => parsePolicy('vm: { restart: 3 }'), /not valid/, 'a word that is not known')
  t.throws(() => parsePolicy('mode: yes please'), /mode/)
  t.throws(() => parsePolicy('vm: { check: { waitSeconds: -1 } }'), /waitSeconds/)
  t.throws(() => parsePolicy('vm: 3'), /vm/)
  t.throws(() => parsePolicy('{'), /YAML/)
  t.strictSame(parsePolicy(''), defaultPolicy)
  t.equal(drover.vm.restarts, defaultPolicy.vm.restarts)
})

t.test('the file of the policy: refused when it is wrong at the start, kept when it becomes wrong', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'drover-policy-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'policy.yaml')
  const lines: string[] = []
  const log = createLog({ name: 'ha', level: 'info', to: { write: (line: string) => void lines.push(line) } })
  let second = 0
  const nowMs = (): number => second * 1000
  const write = async (text: string): Promise<void> => {
    await writeFile(file, text)
    await utimes(file, 1, (second += 1))
  }
  t.equal(await (await policyFile(join(folder, 'none'), log, nowMs))(), defaultPolicy, 'none: every default')
  await write('mode: sometimes')
  await t.rejects(policyFile(file, log, nowMs), PolicyError)
  await write('mode: drover')
  const policy = await policyFile(file, log, nowMs)
  t.match(await policy(), { mode: 'drover', vm: { restarts: 3 } })
  await write('mode: drover\nvm: { restarts: 1 }')
  t.match(await policy(), { vm: { restarts: 1 } })
  await write('mode: drover\nvm: { restarst: 2 }')
  const told = lines.length
  t.match(await policy(), { vm: { restarts: 1 } }, 'the last one holds')
  t.match(lines[told], /restarst/, 'and the log says what is wrong')
  second += 1
  await policy()
  t.equal(lines.length, told + 1, 'once')
  await rm(file)
  second += 1
  t.match(await policy(), { vm: { restarts: 1 } }, 'so it does while there is none')
  await write('mode: off')
  t.match(await policy(), { mode: 'off' })
})

t.test('metrics: decisions, actions, signals, servers by state, and how long a recovery took', async t => {
  const registry = new Registry()
  const it = world().domain('off').tell(domainCrashed, life('stopped/failed')).pass(3)
  const measure = haMetrics(registry, () => new Date(it.nowMs))
  it.domain('running', it.nowMs).nova({}, action('reboot', it.nowMs)).pass(70)
  it.ovsNode = ovs(['BondDown', 'bond0'])
  run(it, 2)
  measure.heard(domainCrashed.type)
  for (const step of it.steps) measure.decided('host-1', step)
  const text = await registry.metrics()
  for (const line of [
    `drover_ha_events_total{type="${domainCrashed.type}"} 1`,
    'drover_ha_decisions_total{kind="crashed",state="Recovered"} 1',
    'drover_ha_decisions_total{kind="scheduling",state="Disabled"} 1',
    'drover_ha_actions_total{action="restart"} 1',
    'drover_ha_actions_total{action="disable"} 1',
    'drover_ha_signals{host="host-1",kind="BondLost"} 2',
    'drover_ha_incidents{host="host-1",state="Recovered"} 1',
    'drover_ha_recovery_seconds_count 1'
  ])
    t.ok(text.split('\n').includes(line), line)
  it.ovsNode = ovs()
  measure.decided('host-1', run(it, 3).steps.at(-1)!)
  t.notMatch(await registry.metrics(), /drover_ha_signals\{/, 'the series of what is well go')
  const broken = world()
  broken.ovsNode = ovs(['BondDown', 'bond0'])
  measure.decided('host-2', broken.look())
  t.match(await registry.metrics(), /drover_ha_signals\{host="host-2",kind="BondLost"\} 2/)
  it.nowMs += 901_000
  measure.decided('host-1', it.steps.at(-1)!)
  t.notMatch(await registry.metrics(), /host-2/, 'another process looks at that host now')
})
