// OV-74: the same on the newest Open vSwitch and OVN that can be had.
import '../../servers/ovs/use-newer.ts'
import './links.real.test.ts'
