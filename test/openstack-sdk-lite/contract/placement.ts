import { randomUUID } from 'node:crypto'
import { nowhere, type Part, refused } from './scene.ts'

export const placement: Part = async (t, { cloud, raw }) => {
  const { resourceProviders: providers } = cloud
  const create = async (): Promise<string> => {
    const { body } = await raw('placement', 'POST', '/resource_providers', { name: `contract-${randomUUID()}` })
    return (body as { uuid: string }).uuid
  }

  await t.test('P1…P4: traits, and the generation that guards them', async t => {
    const id = await create()
    const trait = `CUSTOM_CONTRACT_${randomUUID().replaceAll('-', '').toUpperCase()}`
    t.strictSame(await providers.traits(id), { generation: 0, traits: [] })
    await refused(
      t,
      'unknown trait',
      providers.setTraits(id, { generation: 0, traits: [trait] }),
      400,
      'BadRequest',
      /No such trait/
    )
    t.equal(await cloud.traits.create(trait), 'created')
    t.equal(await cloud.traits.create(trait), 'present')
    for (const bad of ['CONTRACT', 'CUSTOM_lower', 'HW_CPU_X86_VMX2']) {
      await refused(t, bad, cloud.traits.create(bad), 400, 'BadRequest', /trait is invalid/)
    }
    t.strictSame((await cloud.traits.known([trait, 'CUSTOM_NO_SUCH', 'HW_CPU_X86_VMX'])).sort(), [trait, 'HW_CPU_X86_VMX'].sort())
    t.strictSame(await providers.setTraits(id, { generation: 0, traits: [trait] }), { generation: 1, traits: [trait] })
    t.match(await providers.having([trait]), [{ id, generation: 1, parent: null }], 'P12: who has it')
    t.ok((await providers.having([])).length >= 4, 'and all there are')
    await refused(t, 'P12: unknown', providers.having([trait, 'CUSTOM_NO_SUCH']), 400, 'BadRequest', /No such trait/)
    const err = await refused(t, 'stale', providers.setTraits(id, { generation: 0, traits: [] }), 409, 'Conflict', /generation/)
    t.equal(err.reason, 'placement.concurrent_update', 'AG-12')
    t.strictSame(
      await providers.setTraits(id, { generation: 1, traits: [trait] }),
      { generation: 1, traits: [trait] },
      'no change, no new generation'
    )
    t.strictSame(await providers.setTraits(id, { generation: 1, traits: [] }), { generation: 2, traits: [] })
    await refused(t, 'AG-13', providers.traits(nowhere), 404, 'NotFound', /No resource provider/)
    await refused(
      t,
      'AG-13',
      providers.setTraits(nowhere, { generation: 0, traits: [] }),
      404,
      'NotFound',
      /No resource provider/
    )
    t.equal(await providers.delete(id), 'deleted')
    t.match(await raw('placement', 'DELETE', `/traits/${trait}`), { status: 204 })
  })

  await t.test('P5…P11: what there is, what is taken, where something fits', async t => {
    const id = await create()
    const trait = `CUSTOM_CONTRACT_${randomUUID().replaceAll('-', '').toUpperCase()}`
    await cloud.traits.create(trait)
    const stale = { resource_provider_generation: 7, inventories: {} }
    t.match(await raw('placement', 'PUT', `/resource_providers/${id}/inventories`, stale), { status: 409 })
    const inventories = { VCPU: { total: 4, allocation_ratio: 2 } }
    t.match(
      await raw('placement', 'PUT', `/resource_providers/${id}/inventories`, { resource_provider_generation: 0, inventories }),
      { status: 200 }
    )
    await providers.setTraits(id, { generation: 1, traits: [trait] })
    const consumer = randomUUID()
    const take = (by: string, amount: number) => {
      const owner = { project_id: 'p', user_id: 'u', consumer_generation: null, consumer_type: 'INSTANCE' }
      return raw('placement', 'PUT', `/allocations/${by}`, { allocations: { [id]: { resources: { VCPU: amount } } }, ...owner })
    }
    t.match(await take(consumer, 3), { status: 204 })
    t.match(await take(randomUUID(), 6), { status: 409 }, 'more than there is')

    t.match(await providers.get(id), { id, name: /^contract-/, generation: 3, parent: null })
    t.strictSame(await providers.inventories(id), {
      VCPU: { total: 4, reserved: 0, allocationRatio: 2, minUnit: 1, maxUnit: 2_147_483_647, stepSize: 1 }
    })
    t.strictSame(await providers.usages(id), { VCPU: 3 })
    t.strictSame(await providers.allocations(id), { [consumer]: { VCPU: 3 } })
    t.strictSame(await cloud.allocations.get(consumer), { [id]: { VCPU: 3 } })

    const candidates = (amount: number) =>
      cloud.allocationCandidates.list({ resources: { VCPU: amount }, required: [trait], limit: 3 })
    t.strictSame(await candidates(5), [{ provider: id, traits: [trait], resources: { VCPU: { capacity: 8, used: 3 } } }])
    t.strictSame(await candidates(6), [], 'full')
    const others = await cloud.allocationCandidates.list({ resources: { VCPU: 1 }, forbidden: [trait], limit: 1 })
    t.equal(others.length, 1)
    t.not(others[0]?.provider, id)
    const strange = cloud.allocationCandidates.list({ resources: { NO_SUCH: 1 }, limit: 1 })
    await refused(t, 'class', strange, 400, 'BadRequest', /No such resource class/)

    const err = await refused(t, 'in use', providers.delete(id), 409, 'Conflict', /has allocations/)
    t.equal(err.reason, 'placement.resource_provider.inuse')
    t.equal(await cloud.allocations.delete(consumer), 'deleted')
    t.equal(await cloud.allocations.delete(consumer), 'absent')
    t.strictSame(await cloud.allocations.get(consumer), {})
    t.equal(await providers.delete(id), 'deleted')
    t.equal(await providers.delete(id), 'absent')
    t.equal(await providers.get(id), undefined)
    t.strictSame(await providers.allocations(id), {})
    await refused(t, 'inventories', providers.inventories(id), 404, 'NotFound', /No resource provider/)
    await refused(t, 'usages', providers.usages(id), 404, 'NotFound', /No resource provider/)
    t.match(await raw('placement', 'DELETE', `/traits/${trait}`), { status: 204 })
  })
}
