import t from 'tap'
import { contract } from './contract.ts'
import { fakeTarget } from './fake.ts'

void t.test('the contract, on the fake', async t => contract(t, await fakeTarget(t)))
