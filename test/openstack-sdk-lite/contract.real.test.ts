import t from 'tap'
import { openstack } from '../servers/openstack.ts'
import { contract } from './contract.ts'

t.setTimeout(900_000)
void t.test('the contract, on the real Keystone, Nova and Placement, with stubs of Glance and Neutron', async t =>
  contract(t, await openstack(t))
)
