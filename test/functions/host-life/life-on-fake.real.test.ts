import t from 'tap'
import { fakeTarget } from '../../openstack-sdk-lite/fake.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { life } from './life.ts'

t.setTimeout(900_000)
void t.test('a host through its life, on the fake OpenStack', async t => life(t, await ownKubernetes(t), await fakeTarget(t)))
