// NC2: the status of a NetworkConfiguration. Pure.
import t from 'tap'
import { reflectNetwork } from '../../../functions/machine/network-status.ts'
import type { Machine } from '../../../shared/schema/machine.ts'
import type { NetworkConfiguration } from '../../../shared/schema/network-configuration.ts'
import { matchWhole } from '../../assert/match-whole.ts'

t.test('NC2: the machines of a network are listed whole and anew, whatever its status said before', async t => {
  const network = {
    apiVersion: 'vitistack.io/v1alpha1',
    kind: 'NetworkConfiguration',
    metadata: { name: 'net', namespace: 'shop', generation: 3 },
    spec: { podNetwork: true },
    status: { machines: [{ name: 'gone', nic: 'eth0', macAddress: '02:00:00:00:00:01' }], machineCount: 1 }
  } as NetworkConfiguration
  const on = (name: string, ...networks: Array<[nic: string, networkName: string]>): Machine => ({
    apiVersion: 'vitistack.io/v1alpha1',
    kind: 'Machine',
    metadata: { name, namespace: 'shop' },
    spec: { template: 'small', networks: networks.map(([nic, networkName]) => ({ name: nic, networkName })) }
  })
  const seen = {
    network,
    networks: [network],
    attachments: [],
    referenced: false,
    options: { macSeed: 's', cniVersion: '1.0.0' }
  }
  const told = (machines: Machine[]) => reflectNetwork({ ...seen, machines }, new Date(0))
  const both = told([on('b', ['eth1', 'net'], ['eth0', 'net']), on('a', ['eth0', 'net']), on('c', ['eth0', 'other'])])
  t.match(both, { machineCount: 2, observedGeneration: 3 })
  t.strictSame(
    both.machines?.map(({ name, nic }) => `${name} ${nic}`),
    ['a eth0', 'b eth0', 'b eth1']
  )
  const nobody = told([])
  t.equal(nobody.machineCount, 0)
  t.notOk(nobody.machines, 'nobody is left from before')
  const crowd = told(Array.from({ length: 600 }, (_, i) => on(`m-${i}`, ['eth0', 'net'])))
  matchWhole(t, [crowd.machines?.length, crowd.machineCount], [512, 600], 'the list is bounded, the number is not')
})
