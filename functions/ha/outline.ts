// Of a host only what ticks and the fleet are asked for: a thousand of them are held in memory (HA-17). Pure.
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Incident } from './seen.ts'

/** A tick looks for what no event told of: only who does not run can be that. */
const down = new Set(['off', 'crashed'])

export function outline({ metadata, spec, status }: Hypervisor): Hypervisor {
  const { name, resourceVersion } = metadata
  const { nova, conditions = [], instances, numInstances = 0, ha } = status ?? {}
  return {
    metadata: { name, ...(resourceVersion !== undefined && { resourceVersion }) },
    spec,
    status: {
      ...(nova && { nova }),
      conditions: conditions.filter(({ type }) => type === 'Onboarding'),
      instances: (instances ?? []).filter(({ state = '' }) => down.has(state)),
      numInstances: instances?.length ?? numInstances,
      ...(ha && {
        ha: {
          ...(ha.nextCheckAt !== undefined && { nextCheckAt: ha.nextCheckAt }),
          ...(ha.incidents && { incidents: ha.incidents.map(inShort) }),
          ...(ha.signals && { signals: ha.signals.map(({ kind }) => ({ kind })) })
        }
      })
    }
  }
}

function inShort({ server, kind, state, decisionId, eventAt, since, storage, rule, plan, attempts }: Incident): Incident {
  return {
    server,
    kind,
    state,
    decisionId,
    ...(eventAt !== undefined && { eventAt }),
    ...(since !== undefined && { since }),
    ...(storage !== undefined && { storage }),
    ...(rule !== undefined && { rule }),
    ...(plan && { plan }),
    ...(attempts && { attempts })
  }
}
