import type { Part } from './scene.ts'

export const imagesNetworks: Part = async (t, { cloud, target }) => {
  await t.test('I1: an image by its name', async t => {
    const [image] = await cloud.images.named('fake')
    t.match(image, { id: target.imageId, name: 'fake', status: 'active' })
    t.strictSame(await cloud.images.named('no-such-image'), [])
  })

  await t.test('N1: networks', async t => {
    t.type(await cloud.networks.list({ shared: false }), Array)
  })
}
