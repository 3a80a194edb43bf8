// One pass over one Machine: look → decide → act → reflect. Begun again when the world moved meanwhile.
import { KubeError } from '../../shared/kube/index.ts'
import { Machine } from '../../shared/schema/machine.ts'
import { act, isMoved, type Outcome } from './act.ts'
import { decide } from './decide.ts'
import type { Deps, Ref } from './deps.ts'
import { isErrorType, type Problem } from './errors.ts'
import { look } from './look.ts'
import { orGone, settleNetwork } from './networks.ts'
import { remove } from './removal.ts'
import type { Seen } from './seen.ts'
import { reflect, type Status } from './status.ts'
import { tell } from './tell.ts'

const tries = 5 // E5: a conflict is looked at again at once

export async function settle(ref: Ref, deps: Deps, fresh = true): Promise<void> {
  const started = performance.now()
  try {
    for (let n = 1; ; n++) {
      try {
        return await once(ref, deps, { fresh: fresh || n > 1, started })
      } catch (err) {
        if (!(err instanceof KubeError) || !isMoved(err) || n === tries) throw err
      }
    }
  } finally {
    deps.metrics.reconciled('Machine', (performance.now() - started) / 1000)
  }
}

async function once(ref: Ref, deps: Deps, { fresh, started }: { fresh: boolean; started: number }): Promise<void> {
  const seen = await look(ref, deps, fresh)
  if (!seen) return
  if (seen.machine.metadata.deletionTimestamp !== undefined) {
    await remove(seen.machine, deps)
    return
  }
  const { problems, actions } = decide(seen, deps.options)
  const outcome = await act(seen, actions, deps)
  const all = outcome.problem ? [...problems, outcome.problem] : problems
  const { machine } = outcome.seen
  const status = reflect(
    {
      ...ours(outcome.seen, all),
      problems: all,
      begun: actions.length > 0 || seen.vm !== undefined,
      acted: outcome.vm === 'made' || outcome.vm === 'changed'
    },
    deps.clock(),
    deps.options.unschedulableGraceMs
  )
  const written = await writeStatus(machine, status, deps)
  if (written && written !== machine) await announce({ machine, status, outcome, problems: all, started }, deps)
  await settleNetworks(outcome.seen, deps)
}

/** A namesake's state is not ours to tell. */
function ours(seen: Seen, problems: readonly Problem[]): Seen {
  const foreign = problems.some(({ type, about }) => type === 'NameConflict' && about === 'vm')
  return foreign ? { ...seen, vm: undefined, vmi: undefined } : seen
}

/** P6: nothing is sent when nothing changed. With the version that was seen, so that an older view never wins over a newer one. */
async function writeStatus(machine: Machine, status: Status, { kube, stores }: Deps): Promise<Machine | undefined> {
  const { name, namespace, resourceVersion } = machine.metadata
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(resourceVersion !== undefined && { resourceVersion })
  }
  const written = await kube.applyStatus(Machine, { metadata, status }, { live: machine }).catch(orGone)
  if (written) stores.machines.put(written)
  return written
}

interface Settled {
  machine: Machine
  status: Status
  outcome: Outcome
  problems: readonly Problem[]
  started: number
}

async function announce({ machine, status, outcome, problems, started }: Settled, deps: Deps): Promise<void> {
  const { name, namespace, generation } = machine.metadata
  const { log, metrics } = deps
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  const [error] = problems.flatMap(({ type }) => (isErrorType(type) ? [type] : []))
  const line = {
    controller: 'Machine',
    machine: name,
    namespace,
    phase: status.phase,
    generation,
    duration_ms: Math.round(performance.now() - started),
    ...(error && { error_type: error })
  }
  log[error ? 'warn' : 'info'](line, ready?.message ?? '')
  for (const { type, network } of problems) {
    if (isErrorType(type)) metrics.failed('Machine', type)
    if (network !== undefined) metrics.networkFailed(network)
  }
  await tell(machine, status, outcome, problems, deps)
}

/** The networks that the Machine is on now, and those that still list it. */
async function settleNetworks({ machine, networks }: Seen, deps: Deps): Promise<void> {
  const { name, namespace = '', deletionTimestamp } = machine.metadata
  const used = new Set(machine.spec.networks?.map(({ networkName }) => networkName))
  for (const network of networks) {
    const listed = network.status?.machines?.some(entry => entry.name === name) ?? false
    const isUsed = deletionTimestamp === undefined && used.has(network.metadata.name)
    if (listed || isUsed)
      await deps.networks({ namespace, name: network.metadata.name }, () =>
        settleNetwork({ namespace, name: network.metadata.name }, deps)
      )
  }
}
