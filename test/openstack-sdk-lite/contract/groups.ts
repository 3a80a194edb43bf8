import { recordIn } from './died.ts'
import type { Part } from './scene.ts'
import { remove, settled } from './target.ts'

export const groups: Part = async (t, { cloud, target, raw }) => {
  const [one, two, three] = target.hosts
  const make = async (policy: string): Promise<string> => {
    const { body } = await raw('compute', 'POST', '/os-server-groups', { server_group: { name: `contract-${policy}`, policy } })
    return (body as { server_group: { id: string } }).server_group.id
  }
  const bootIn = async (group: string, name: string, host: string): Promise<string> => {
    const server = { name, host, imageRef: target.imageId, flavorRef: target.flavorId, networks: 'none' }
    const { body } = await raw('compute', 'POST', '/servers', { server, 'os:scheduler_hints': { group } })
    const { id } = (body as { server: { id: string } }).server
    await settled(cloud, id, 'ACTIVE')
    return id
  }

  await t.test('a server goes to no host that has another of its group', async t => {
    const group = await make('anti-affinity')
    await target.setLiveMove(one, 0)
    const [a, b] = [await bootIn(group, 'contract-apart-a', one), await bootIn(group, 'contract-apart-b', two)]
    t.strictSame((await cloud.servers.get(a))?.groups, [group])
    await cloud.servers.liveMigrate(a, two)
    t.match(await recordIn(cloud, a, 'error'), { target: null })
    t.match(await settled(cloud, a, 'ACTIVE'), { host: one })
    await cloud.servers.liveMigrate(a, three)
    await recordIn(cloud, a, 'completed')
    t.match(await settled(cloud, a, 'ACTIVE'), { host: three })
    await remove(cloud, a, b)
    t.match(await raw('compute', 'DELETE', `/os-server-groups/${group}`), { status: 204 })
  })

  await t.test('a group that must stay together cannot be moved at all', async t => {
    const group = await make('affinity')
    const [a, b] = [await bootIn(group, 'contract-together-a', one), await bootIn(group, 'contract-together-b', one)]
    await cloud.servers.liveMigrate(a)
    t.match(await recordIn(cloud, a, 'error'), { target: null })
    t.match(await settled(cloud, a, 'ACTIVE'), { host: one })
    await remove(cloud, a, b)
    await raw('compute', 'DELETE', `/os-server-groups/${group}`)
  })
}
