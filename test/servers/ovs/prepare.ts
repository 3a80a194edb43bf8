// The Debian packages that a real Open vSwitch and OVN need, installed when something is missing
import { install } from '../install.ts'
import type { Prepared } from '../say.ts'

const packages = ['openvswitch-switch', 'openvswitch-common', 'ovn-central', 'ovn-host', 'python3-openvswitch', 'tshark']
const needed = [
  '/usr/sbin/ovsdb-server',
  '/usr/bin/ovsdb-tool',
  '/usr/sbin/ovs-vswitchd',
  '/usr/bin/ovn-northd',
  '/usr/bin/ovn-controller',
  '/usr/lib/python3/dist-packages/ovs/version.py',
  '/usr/bin/tshark'
]

/** Root is needed to install, and for what runs in a lab; ovsdb-server alone runs as anybody. */
export const prepare = (): Promise<Prepared> => install(packages, needed)
