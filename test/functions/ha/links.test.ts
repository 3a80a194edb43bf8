// Signals of hosts, told twice, late and out of order to two processes that die between note and call: the same end (HV-32, HA-17).
import t from 'tap'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { condition } from '../host-life/fixtures.ts'
import { lab, type Lab } from './lab.ts'
import { mortalKube, pass, random, untilTold } from './mortal.ts'

const hosts = ['hv0', 'hv1', 'hv2', 'hv3']
const namespace = 'ovn-system'
const policy = 'network: { migrationBonds: [bond1] }'

/** What the OVS agent of a host says now. */
async function network(it: Lab, host: string, ...issues: Array<[type: string, object: string]>): Promise<void> {
  const at = new Date(it.clock.now()).toISOString()
  await it.admin.applyStatus(OVSNode, {
    metadata: { name: host, namespace },
    status: {
      observedAt: at,
      conditions: [condition('Ready', issues.length > 0 ? 'False' : 'True')] as never,
      issues: issues.map(([type, object]) => ({
        id: `${type}/${object}`,
        severity: 'Critical' as const,
        type,
        object,
        message: `${type}.`,
        detectedAt: at
      }))
    }
  })
}

t.test('disabled, drained, called off and enabled, each once; nobody else’s disable', { timeout: 300_000 }, async t => {
  const it = await lab(t, hosts, 1)
  for (const name of hosts) await it.admin.create(OVSNode, { metadata: { name, namespace }, spec: { nodeRef: { name } } })
  for (const seed of [1, 2, 3]) {
    const chance = random(seed)
    let mayDie = true
    const mortal = mortalKube(() => mayDie && chance() < 0.2)
    const engines = [await it.process(policy, mortal), await it.process(policy, mortal)]
    /** hints come several times, to whichever process, and say nothing but "look" */
    const hints = async (): Promise<void> => {
      const all = [...hosts, ...hosts, ...hosts].map(host => ({ host, order: chance() })).toSorted((a, b) => a.order - b.order)
      await Promise.all(all.map(({ host }) => untilTold(() => engines[chance() < 0.5 ? 0 : 1]!.hear(host, []))))
    }
    const evictions = async () => (await it.admin.list(Eviction)).items
    const jane = it.fake.host('hv3')
    Object.assign(jane, { status: 'disabled', disabledReason: 'new disks, jane' })

    // hv0: a lost bond, drained; hv1: one cable; hv2: its bridge; hv3: as hv0, but somebody else has disabled it
    await network(it, 'hv0', ['BondDown', 'bond0'])
    await network(it, 'hv1', ['BondMemberDown', 'eth1'])
    await network(it, 'hv2', ['BridgeMissing', 'br-int'])
    await hints()
    await pass(it, engines, 40, 4)
    await hints()
    mayDie = false
    await pass(it, engines, 24, 4)
    t.match(it.fake.host('hv0'), { status: 'disabled', disabledReason: 'drover: ha: BondLost bond0 (drover-ha)' }, `seed ${seed}`)
    t.match(it.fake.host('hv2'), { status: 'disabled', disabledReason: 'drover: ha: BridgeLost br-int (drover-ha)' })
    t.equal(it.fake.host('hv1').status, 'enabled')
    t.match(
      (await evictions()).map(({ spec }) => spec.hypervisor),
      ['hv0'],
      'one drain'
    )
    t.match(await it.ha('hv1'), { state: 'Degraded', signals: [{ kind: 'NetworkDegraded' }] })

    mayDie = true
    for (const host of hosts) await network(it, host)
    await hints()
    await pass(it, engines, 20, 4)
    mayDie = false
    await pass(it, engines, 40, 4)
    for (const host of ['hv0', 'hv1', 'hv2']) t.match(it.fake.host(host), { status: 'enabled' }, `seed ${seed}: ${host}`)
    t.same(await evictions(), [], 'the drain is called off')
    t.match(jane, { status: 'disabled', disabledReason: 'new disks, jane' })
    for (const host of hosts) t.notOk((await it.ha(host)).signals, `${host} is well`)
    await Promise.all(engines.map(engine => engine.close()))
    it.clock.advance(3_600_000)
  }
})
