// A process that holds a lease until it is killed; says "held" when it has it. Arguments: kubeconfig, namespace, lease, identity.
import { connect, holdLease } from '../../shared/kube/index.ts'

const [kubeconfig = '', namespace = '', name = '', identity = ''] = process.argv.slice(2)
const kube = await connect({ manager: 'drover-test', kubeconfig })
const lease = holdLease(kube, { name, namespace, identity, durationMs: 3000, renewMs: 200, signal: new AbortController().signal })
for await (const held of lease.changes()) if (held) process.stdout.write('held\n')
