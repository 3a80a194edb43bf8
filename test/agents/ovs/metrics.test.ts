// OV-71: what is counted, and what cannot be read.
import { Gauge } from 'prom-client'
import { once } from 'node:events'
import t from 'tap'
import { Type } from 'typebox'
import { type Agent, startAgent } from '../../../shared/runtime/agent.ts'
import { readLookups } from '../../../agents/ovs/wire/lookups.ts'

t.test('OV-71 lookups of every datapath, exact; from text that is not understood nothing is read', async t => {
  const text = `netdev@ovs-netdev:
  lookups: hit:18446744073709551615 missed:4 lost:1
  flows: 3
  port 0: ovs-netdev (tap)
system@ovs-system:
  lookups: hit:1 missed:2 lost:3
`
  t.strictSame(
    readLookups(text),
    new Map([
      ['netdev@ovs-netdev', { hit: 2n ** 64n - 1n, missed: 4n, lost: 1n }],
      ['system@ovs-system', { hit: 1n, missed: 2n, lost: 3n }]
    ])
  )
  t.strictSame(readLookups('nonsense: hit'), new Map())
})

t.test('OV-71 a metric that cannot be read, as before the first snapshot, does not end the agent', async t => {
  let there = false
  const collect = () => {
    if (!there) throw new Error('not there yet')
  }
  const agent: Agent = {
    name: 'probe',
    config: Type.Object({}),
    async run(_config, { metrics, signal }) {
      metrics.registerMetric(new Gauge({ name: 'probe', help: 'probe', registers: [], collect }))
      await once(signal, 'abort')
    }
  }
  const lines: string[] = []
  const running = await startAgent(agent, {
    env: { PORT: '0', HOST: '127.0.0.1' },
    logs: { write: line => void lines.push(line) }
  })
  t.teardown(() => running.close())
  const status = async (path: string) => (await fetch(`${running.url}${path}`)).status
  t.equal(await status('/metrics'), 500)
  t.match(lines.join(''), /a metric could not be read.*/)
  t.equal(await status('/healthz'), 200)
  there = true
  t.equal(await status('/metrics'), 200)
})
