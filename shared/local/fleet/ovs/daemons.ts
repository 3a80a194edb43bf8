// Open vSwitch and OVN on a host: ovsdb-server, ovs-vswitchd with its bridges, ovn-controller.
import { join } from 'node:path'
import type { Listener } from '../listen.ts'
import { startOpenFlow } from './openflow-server.ts'
import { startOvsdbServer } from './ovsdb-server.ts'
import { bridgeNames, type Switch } from './switch.ts'
import { startUnixctl } from './unixctl-server.ts'

export interface OvnLink {
  connected: boolean
}

export async function startOvsDaemons(folder: string, vswitch: Switch, ovn: OvnLink, pid: number): Promise<Listener> {
  const version = (daemon: string, number: string) => (): string => `${daemon} ${number}\n`
  const open = await Promise.all([
    startOvsdbServer(join(folder, 'db.sock'), [vswitch.database, vswitch.server]),
    startUnixctl(folder, 'ovsdb-server', pid, { version: version('ovsdb-server (Open vSwitch)', '3.1.0') }),
    startUnixctl(folder, 'ovs-vswitchd', pid + 1, {
      version: version('ovs-vswitchd (Open vSwitch)', '3.1.0'),
      'dpctl/show': () => 'system@ovs-system:\n  lookups: hit:940112 missed:1873 lost:0\n'
    }),
    startUnixctl(folder, 'ovn-controller', pid + 2, {
      version: version('ovn-controller', '23.03.1'),
      'connection-status': () => (ovn.connected ? 'connected\n' : 'not connected\n')
    }),
    ...bridgeNames.map(bridge => startOpenFlow(join(folder, `${bridge}.mgmt`), () => vswitch.flowsOf(bridge)))
  ])
  return {
    async close() {
      await Promise.all(open.map(listener => listener.close()))
    }
  }
}
