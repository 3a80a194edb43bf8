// OV-74: what the server answers, on the newest ovsdb-server that can be had; monitor-outages.real does not depend on the release.
import '../servers/ovs/use-newer.ts'
import '../servers/ovs/newer-release.ts'
import './transact.real.test.ts'
import './monitor.real.test.ts'
import './cluster.real.test.ts'
import './lock.real.test.ts'
