// The same on the newest ovsdb-server that can be had.
import '../servers/ovs/use-newer.ts'
import './transact.real.test.ts'
import './monitor.real.test.ts'
import './cluster.real.test.ts'
import './lock.real.test.ts'
