// OV-74: what is read from the switch, on the newest Open vSwitch that can be had; outages.real does not depend on the release.
import '../../servers/ovs/use-newer.ts'

// not beside it: a module does not wait for those that stand before it in the list when they wait for something themselves
await import('../../servers/ovs/newer-release.ts')
await import('./links.real.test.ts')
