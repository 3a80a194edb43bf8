// `drover get`: the fleet, a line a host, in the words of the page.
import { hostView } from '../view/host.ts'
import type { HostView } from '../view/types.ts'
import { onCluster, Trouble, type ClusterOptions } from './cluster.ts'
import { readHosts, unknownHost } from './fleet.ts'
import { asData, say, table, type Format } from './output.ts'

interface Options extends ClusterOptions {
  output: Format
}

export const get = (names: readonly string[], options: Options): Promise<number> =>
  onCluster('get', options, async kube => {
    const now = new Date()
    const objects = await readHosts(kube)
    const all = objects.map(one => hostView(one, now))
    const unknown = names.find(name => !all.some(host => host.name === name))
    if (unknown !== undefined) throw new Trouble(unknownHost(unknown, objects))
    const hosts = names.length > 0 ? all.filter(({ name }) => names.includes(name)) : all
    const shown = hosts.toSorted((a, b) => a.zone.localeCompare(b.zone) || a.name.localeCompare(b.name))
    say(asData(options.output, shown.map(withoutSearch)) ?? (shown.length > 0 ? lines(shown, options.output) : noHosts))
    return 0
  })

const noHosts = 'There are no hosts yet. A Node with the label nova.openstack.cloud.sap/virt-driver becomes one.'
const withoutSearch = (host: HostView): object => ({ ...host, find: undefined })

function lines(hosts: readonly HostView[], output: Format): string {
  const wide = output === 'wide'
  return table(
    ['HOST', 'ZONE', 'STATE', 'VMS', ...(wide ? ['BLOCK', 'FULL', 'NETWORK'] : []), ''],
    hosts.map(({ name, zone, tone, word, vms, block, percent, network, line, needsPerson }) => [
      name,
      zone,
      { text: word, tone },
      String(vms),
      ...(wide ? [block, `${percent} %`, { text: network.line || 'healthy', tone: network.tone }] : []),
      needsPerson ?? line
    ])
  )
}
