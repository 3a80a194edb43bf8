// A hint of Nova's own about a host: it is looked at now, and not with the next tick (HV-43).
import { novaServiceChanged } from '../events/nova.ts'
import { on, type Reaction } from '../runtime/function.ts'
import { Hypervisor } from '../schema/hypervisor.ts'
import { namesOf, novaHost } from './host.ts'
import { onBehalfOf, settleNow, whole, type HostDeps, type HostFunction } from './host-function.ts'

/** Whichever Hypervisor stands for Nova's host: most are named alike, and of the others the list is asked. */
export async function byNovaHost(
  host: string,
  kube: HostDeps['kube'],
  forms: readonly string[]
): Promise<Hypervisor | undefined> {
  const isIt = (hypervisor: Hypervisor): boolean =>
    novaHost(hypervisor) === undefined ? namesOf(hypervisor, forms).includes(host) : novaHost(hypervisor) === host
  const alike = await kube.find(Hypervisor, host)
  if (alike && isIt(alike)) return whole(alike)
  const found = (await kube.list(Hypervisor)).items.find(isIt)
  return found && whole(found)
}

export const serviceReaction = <Deps extends HostDeps>(
  fn: Pick<HostFunction<Deps>, 'settle'>,
  formsOf: (deps: Deps) => readonly string[] = () => []
): Reaction<Deps> =>
  on(novaServiceChanged, { key: ({ data }) => data.host }, async ({ data }, opened: Deps, call) => {
    const deps = onBehalfOf(call, opened)
    const hypervisor = await byNovaHost(data.host, deps.kube, formsOf(deps))
    if (!hypervisor) return
    deps.listings.forget() // what was listed before is what has changed
    await settleNow(fn, hypervisor.metadata.name, deps)
  })
