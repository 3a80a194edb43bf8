// OV-74: what is read from ovn-controller, its flows and the southbound database, on the newest OVN that can be had.
import '../../servers/ovs/use-newer.ts'
import '../../servers/ovs/newer-release.ts'
import './ovn.real.test.ts'
