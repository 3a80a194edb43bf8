// OV-74: what is read from the switch, on the newest Open vSwitch that can be had; outages.real does not depend on the release.
import '../../servers/ovs/use-newer.ts'
import '../../servers/ovs/newer-release.ts'
import './links.real.test.ts'
