import t from 'tap'
import { contract } from './contract.ts'
import { fakeOnly } from './contract/fake-only.ts'
import { fakeTarget } from './fake.ts'

void t.test('the contract, on the fake', async t => contract(t, await fakeTarget(t)))
void t.test('what only the fake can be made to do', fakeOnly)
