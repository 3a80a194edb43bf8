// `drover doctor`: is everything installed, reachable and permitted; and if not, what to do.
import type { Kube } from '../kube/index.ts'
import { localPlatform } from './broker.ts'
import { onCluster, type ClusterOptions } from './cluster.ts'
import { checkDefinitions } from './doctor/definitions.ts'
import { fine, left, type Finding } from './doctor/finding.ts'
import { manifests } from './doctor/installed.ts'
import { checkAgents, checkKnative } from './doctor/knative.ts'
import { checkRights } from './doctor/rights.ts'
import { checkSigns } from './doctor/signs.ts'
import { checkWebhooks } from './doctor/webhooks.ts'
import { asData, say, toned, type Format } from './output.ts'

interface Options extends ClusterOptions {
  output: Format
}

const marks: Record<Finding['tone'], string> = { ok: 'ok  ', busy: 'ok  ', rest: '–   ', warn: 'warn', bad: 'FAIL' }

/** Gives 1 when something is wrong. */
export const doctor = (options: Options): Promise<number> =>
  onCluster('doctor', options, async kube => {
    const findings = await examine(kube)
    say(asData(options.output, findings) ?? inWords(findings))
    return findings.some(({ tone }) => tone === 'bad') ? 1 : 0
  })

async function examine(kube: Kube): Promise<Finding[]> {
  await kube.health()
  const [local, all] = await Promise.all([localPlatform(kube), manifests()])
  const now = new Date()
  const groups = await Promise.all([
    checkDefinitions(kube),
    local ? embedded(local) : Promise.all([checkKnative(kube, all), checkAgents(kube, all)]).then(found => found.flat()),
    checkWebhooks(kube, all, now),
    checkRights(kube),
    checkSigns(kube, now)
  ])
  return [fine('API server', 'answers'), ...groups.flat()]
}

/** In `npm start` everything runs in one process, and Knative's kinds are read from knative/ alone. */
async function embedded({ broker = '', functions = '' }: Record<string, string>): Promise<Finding[]> {
  const answer = await fetch(broker, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  return [
    answer
      ? fine('broker', `that of \`npm start\` answers at ${broker}`)
      : { about: 'broker', tone: 'bad', line: `that of \`npm start\` does not answer at ${broker}`, todo: 'start it again' },
    left('functions', `in the process of \`npm start\`: ${functions}`)
  ]
}

function inWords(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ about }) => about.length))
  const lines = findings.flatMap(({ about, tone, line, todo }) => [
    `${toned(tone, marks[tone])}  ${about.padEnd(width)}  ${line}`,
    ...(todo === undefined ? [] : [`${' '.repeat(width + 8)}→ ${todo}`])
  ])
  const wrong = findings.filter(({ tone }) => tone === 'bad').length
  const doubts = findings.filter(({ tone }) => tone === 'warn').length
  const verdict = wrong > 0 ? `${wrong} to mend` : doubts > 0 ? 'it works, with doubts' : 'all is well'
  return [...lines, '', verdict].join('\n')
}
