import t from 'tap'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { openstack } from '../../servers/openstack.ts'
import { life } from './life.ts'

t.setTimeout(900_000)
void t.test('a host through its life, on the real Nova and Placement, with stubs of Glance and Neutron', async t =>
  life(t, await ownKubernetes(t), await openstack(t))
)
