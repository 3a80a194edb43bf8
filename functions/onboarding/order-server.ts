// The server of the smoke test: pinned to the host by `zone:host`, booted from a volume that goes with it (HV-36, HV-42).
import { OpenStackError } from 'openstack-sdk-lite'
import type { Cloud } from '../../shared/openstack/connect.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

export interface TestOptions {
  image: string
  flavor: string
  /** A name; `first` for the first that is not shared; `none`. */
  network: string
  volumeType: string
  /** 0: without a volume. */
  volumeSizeGiB: number
  /** HV-43: size of a second, empty volume that is attached when the server boots; 0: none. */
  attachGiB: number
  /** HV-43: what the console shows when the network was reached; empty: not asked. */
  networkText: string
  /** What must be on the console; `{name}` stands for the server's name. */
  consoleText: string
}

export async function orderServer(
  name: string,
  hypervisor: Hypervisor,
  host: string,
  { testCloud, test }: { testCloud: Cloud; test: TestOptions }
): Promise<void> {
  const zone = hypervisor.metadata.labels?.['topology.kubernetes.io/zone'] ?? ''
  const [images, networks] = await Promise.all([testCloud.images.named(test.image), networksFor(test.network, testCloud)])
  const [image] = images
  if (!image) throw new OpenStackError('BadInput', `there is no image ${test.image}`)
  const type = test.volumeType ? { type: test.volumeType } : {}
  await testCloud.servers.create({
    name,
    flavorId: test.flavor,
    imageId: image.id,
    zone: `${zone}:${host}`,
    networks,
    ...(test.volumeSizeGiB > 0 && { volume: { sizeGiB: test.volumeSizeGiB, ...type } }),
    ...(test.attachGiB > 0 && { attached: { sizeGiB: test.attachGiB, ...type } })
  })
}

async function networksFor(wanted: string, { networks }: Cloud): Promise<'none' | { network: string }[]> {
  if (wanted === 'none') return 'none'
  const [found] = await networks.list(wanted === 'first' ? { shared: false } : { name: wanted })
  if (!found) throw new OpenStackError('BadInput', `there is no network ${wanted}`)
  return [{ network: found.id }]
}
