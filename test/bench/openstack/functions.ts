// Functions at work without HTTP in front of them.
import aggregates from '../../../functions/aggregates/handler.ts'
import maintenance from '../../../functions/maintenance/handler.ts'
import offboarding from '../../../functions/offboarding/handler.ts'
import onboarding from '../../../functions/onboarding/handler.ts'
import traits from '../../../functions/traits/handler.ts'
import { readConfig } from '../../../shared/runtime/config.ts'
import type { DroverFunction } from '../../../shared/runtime/function.ts'
import { RuntimeConfig } from '../../../shared/runtime/runtime-config.ts'
import { startService, type Service } from '../../../shared/runtime/service.ts'
import { eventRequest } from '../../runtime/platform.ts'

/** Those that carry a host in; `maintenance` has no part in it (HV-44), and looks at the service for the first time when it is done. */
export const onboardingFunctions: readonly DroverFunction[] = [onboarding, aggregates, traits]
const hostFunctions: readonly DroverFunction[] = [...onboardingFunctions, maintenance, offboarding]

export interface Working {
  tick(speed: 'fast' | 'slow'): Promise<void>
  changed(name: string): Promise<void>
  /** Requests to OpenStack so far, by name of the call; tokens and versions left out. */
  calls(): Promise<Map<string, number>>
  close(): Promise<void>
}

export function startFunctions(env: Record<string, string>, functions = hostFunctions): Working {
  const full = { LOG_LEVEL: 'silent', K_SINK: 'http://127.0.0.1:9', ...env }
  const services: Service[] = functions.map(fn => startService(fn, readConfig(RuntimeConfig, { env: full }), { env: full }))
  const tell = async (type: string, data: object, attributes: Record<string, string> = {}): Promise<void> => {
    for (const { receive, problem } of services) {
      const { status, body } = await receive(eventRequest(type, data, attributes))
      if (status !== 204) throw new Error(`answered ${status}: ${body} (${problem()})`)
    }
  }
  return {
    tick: speed => tell('dev.knative.sources.ping', { tick: speed }),
    changed: name =>
      tell(
        'sap.cloud.kvm.hypervisor.changed.v1',
        { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name },
        { partitionkey: name }
      ),
    async calls() {
      const texts = await Promise.all(services.map(({ metrics }) => metrics()))
      const counts = new Map<string, number>()
      for (const [, call = '', count] of texts
        .join('\n')
        .matchAll(/^drover_openstack_calls_total\{[^}]*call="([^"]+)"[^}]*\} (\d+)/gm)) {
        if (call.endsWith('.versions') || call === 'tokens.create') continue
        counts.set(call, (counts.get(call) ?? 0) + Number(count))
      }
      return counts
    },
    close: async () => {
      for (const service of services) await service.close()
    }
  }
}
