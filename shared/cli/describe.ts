// `drover describe HOST`: why it is as it is, what is awaited, since when.
import { hostDetail } from '../view/detail.ts'
import type { BondView, HaView, HostDetail, NetworkView } from '../view/types.ts'
import { onCluster, type ClusterOptions } from './cluster.ts'
import { readHost } from './fleet.ts'
import { asData, say, table, toned, type Format } from './output.ts'

interface Options extends ClusterOptions {
  output: Format
}

export const describe = (host: string, options: Options): Promise<number> =>
  onCluster('describe', options, async kube => {
    const detail = hostDetail(await readHost(kube, host), new Date())
    say(asData(options.output, detail) ?? inWords(detail))
    return 0
  })

const bondLines = ({ name, tone, line, links }: BondView): string[] => [
  `${name}: ${toned(tone, line)}`,
  ...links.map(link => `  ${link.name}: ${toned(link.tone, link.line)}`)
]

const networkLines = ({ bridges, bonds, ovn, issues }: NetworkView): string[] => [
  ...bridges.flatMap(({ name, tone, line, bonds }) => [
    `${name}: ${toned(tone, line)}`,
    ...bonds.flatMap(bondLines).map(text => `  ${text}`)
  ]),
  ...bonds.flatMap(bondLines),
  ...(ovn ? [`${ovn.name}: ${toned(ovn.tone, ovn.line)}`] : []),
  ...issues.map(({ tone, line }) => toned(tone, line))
]

const haLines = ({ lines, signals, gates, incidents, history }: HaView): string[] => [
  ...lines,
  ...signals.map(
    ({ name, tone, line, since }) => `sign: ${toned(tone, name)}${since ? ` for ${since}` : ''}${line && `: ${line}`}`
  ),
  ...incidents.map(({ name, tone, line }) => `VM ${name}: ${toned(tone, line)}`),
  ...gates.map(({ name, tone, line }) => `gate ${name}: ${toned(tone, line)}`),
  ...history.map(({ time, text }) => `${time}  ${text}`)
]

function inWords({ story, facts, conditions, drift, moves, network, ha, timeline }: HostDetail): string {
  const parts: Array<[title: string, lines: string[]]> = [
    ['', story],
    ['Facts', facts.map(([name, value]) => `${name}: ${value}`)],
    [
      'Conditions',
      conditions.length === 0
        ? []
        : table(
            ['', 'STATUS', 'SINCE', ''],
            conditions.map(({ type, status, since, sentence, tone }) => [type, { text: status, tone }, since, sentence])
          ).split('\n')
    ],
    [
      'Moves',
      moves.map(
        ({ name, word, tone, line, percent }) =>
          `${toned(tone, word)} ${name} ${line}${percent === undefined ? '' : ` ${percent} %`}`
      )
    ],
    ['Network', network ? networkLines(network) : []],
    ['High availability', ha ? haLines(ha) : []],
    ['Drift', drift],
    ['History', timeline.slice(0, 20).map(({ time, text }) => `${time}  ${text}`)]
  ]
  return parts
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => (title === '' ? lines.join('\n') : `${title}\n${lines.map(line => `  ${line}`).join('\n')}`))
    .join('\n\n')
}
