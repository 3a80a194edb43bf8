import { KubeError, type Kube } from '../../shared/kube/index.ts'
import { ConfigMap } from '../../shared/kube/kinds.ts'
import { isObserved } from '../../shared/kube/observe.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { settleAll } from '../../shared/runtime/settle-all.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { decide, readRoll, reasonOf, rollMark, sayPlan, type Plan, type Roll } from './decide.ts'

export interface Deps extends Pick<Platform, 'log'> {
  kube: Kube
  namespace: string
  observe: boolean
}

export const statusAnnotation = 'kvm.cloud.sap/rolling-status'

export async function settleRolls(deps: Deps): Promise<void> {
  const { kube, namespace } = deps
  const rolls = await kube.list(ConfigMap, { namespace, labelSelector: rollMark })
  if (rolls.items.length === 0) return
  const all = (await kube.list(Hypervisor)).items.map(whole)
  // one after the other, since what one takes away another must not take again
  for (const map of rolls.items) await settle(map, all, deps)
}

/** The CRD in use takes an object without a spec. */
const whole = (host: Hypervisor): Hypervisor => ({ ...host, spec: host.spec ?? {} })

async function settle(map: ConfigMap, all: Hypervisor[], deps: Deps): Promise<void> {
  const { name = '', uid = '' } = map.metadata ?? {}
  const roll = readRoll(name, uid, map.data)
  if ('problem' in roll) return say(map, roll.problem, deps)
  const names = await selectedBy(map.data?.['selector'] ?? '', deps)
  if (!Array.isArray(names)) return say(map, names.problem, deps)
  const plan = decide(
    roll,
    all.filter(host => names.includes(host.metadata.name) && !isObserved(host, { observe: false })),
    all
  )
  const refused = deps.observe ? ['only observed'] : await act(roll, plan, all, deps)
  await say(map, [...refused, sayPlan(plan)].join('; '), deps)
}

async function selectedBy(labelSelector: string, { kube }: Deps): Promise<string[] | { problem: string }> {
  try {
    return (await kube.list(Hypervisor, { labelSelector })).items.map(({ metadata }) => metadata.name)
  } catch (err) {
    if (!(err instanceof KubeError) || !['Invalid', 'BadRequest'].includes(err.code)) throw err
    return { problem: `selector: ${err.message}` }
  }
}

/** What was refused, in words: the admission function may know why a host must stay (HV-12). */
async function act(roll: Roll, { start, clear }: Plan, all: Hypervisor[], { kube, log }: Deps): Promise<string[]> {
  const { uid, version } = roll
  const refused: string[] = []
  const write = async (name: string, annotations: Record<string, string>, spec: Partial<Hypervisor['spec']>): Promise<void> => {
    const at = all.findIndex(({ metadata }) => metadata.name === name)
    // the version that was decided upon: a mode that a person has set meanwhile is not overwritten
    const { resourceVersion } = all[at]?.metadata ?? {}
    try {
      const written = await kube.patch(Hypervisor, { name }, { metadata: { annotations, resourceVersion }, spec })
      all[at] = whole(written) // for the rolls that follow
      log.info({ host: name, roll: roll.name, ...spec }, spec.maintenance ? 'maintenance begins' : 'maintenance is over')
    } catch (err) {
      if (!(err instanceof KubeError) || !['Conflict', 'Invalid', 'Forbidden', 'NotFound'].includes(err.code)) throw err
      if (err.code === 'Conflict')
        log.info({ host: name, roll: roll.name }, 'it changed meanwhile: looked at again by the next tick')
      else refused.push(`${name} stays: ${err.message}`)
    }
  }
  const begun = { maintenance: 'auto', maintenanceReason: reasonOf(roll), ...(version && { version }) } as const
  await settleAll(start, name => write(name, { [rollMark]: uid }, begun))
  await settleAll(clear, name => write(name, {}, { maintenance: '', maintenanceReason: '' }))
  return refused
}

async function say(map: ConfigMap, text: string, { kube, namespace }: Deps): Promise<void> {
  const { name = '', annotations = {} } = map.metadata ?? {}
  if (annotations[statusAnnotation] === text) return
  await kube.patch(ConfigMap, { name, namespace }, { metadata: { annotations: { [statusAnnotation]: text } } })
}
