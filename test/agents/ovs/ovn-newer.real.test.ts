// OV-74: what is read from ovn-controller, its flows and the southbound database, on the newest OVN that can be had.
import '../../servers/ovs/use-newer.ts'

await import('../../servers/ovs/newer-release.ts') // afterwards: see links-newer
await import('./ovn.real.test.ts')
