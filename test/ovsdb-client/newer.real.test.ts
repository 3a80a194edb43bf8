// OV-74: what the server answers, on the newest ovsdb-server that can be had; monitor-outages.real does not depend on the release.
import '../servers/ovs/use-newer.ts'

await import('../servers/ovs/newer-release.ts') // afterwards: see agents/ovs/links-newer
await import('./transact.real.test.ts')
await import('./monitor.real.test.ts')
await import('./cluster.real.test.ts')
await import('./lock.real.test.ts')
