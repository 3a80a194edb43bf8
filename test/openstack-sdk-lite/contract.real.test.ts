import t from 'tap'
import { openstack } from '../servers/openstack.ts'
import { contract } from './contract.ts'

t.setTimeout(300_000)
void t.test('the contract, on the real services', async t => contract(t, await openstack(t)))
