// What is wrong at this moment, from everything that is known. Pure; for how long it must last is the ledger's business.
import { type Bond, bondsOf } from './bonds.ts'
import { type BridgeHealth, bridgeHealth, expectedBridges } from './bridges.ts'
import { type Finding, finding } from './finding.ts'
import { ovnFindings } from './findings-ovn.ts'
import { bondFindings, bridgeFindings } from './findings-switch.ts'
import { type Physical, physicalInterfaces } from './interfaces.ts'
import { type Model, modelOf } from './model.ts'
import type { Observed } from './observed.ts'

export interface Settings {
  readonly expectedBridges: readonly string[]
  readonly physicalPattern?: RegExp | undefined
}

/** Health of what the switch has; undefined while the database is not known. */
export interface Health {
  readonly model: Model
  readonly bridges: readonly BridgeHealth[]
  readonly bonds: readonly Bond[]
  readonly physical: readonly Physical[]
}

export function healthOf({ tables, kernelBonds, expected }: Observed, settings: Settings): Health | undefined {
  if (!tables) return undefined
  const model = modelOf(tables)
  const bonds = bondsOf(model, kernelBonds, expected)
  const ofKernel = bonds.filter(({ kind }) => kind === 'kernel').map(({ name }) => [name, kernelBonds?.get(name)] as const)
  return {
    model,
    bridges: bridgeHealth(model, expectedBridges(model, expected, settings.expectedBridges)),
    bonds,
    physical: physicalInterfaces(model, ofKernel, settings.physicalPattern)
  }
}

export function findingsOf(observed: Observed, health: Health | undefined): Finding[] {
  return [
    ...daemonFindings(observed, health),
    ...(health ? [...bondFindings(health), ...bridgeFindings(health, observed), ...ovnFindings(health, observed)] : []),
    ...agentFindings(observed)
  ]
}

function daemonFindings({ ovsdb, vswitchd }: Observed, health: Health | undefined): Finding[] {
  const found: Finding[] = []
  if (ovsdb !== 'connected') {
    const why = ovsdb === 'schema-unsupported' ? 'has a schema that this agent does not know' : 'does not answer'
    found.push(
      finding(
        'OvsdbLost',
        'ovsdb-server',
        `ovsdb-server ${why}; nothing is known of the switch. Check its process and db.sock.`,
        {
          reason: ovsdb === 'schema-unsupported' ? 'SchemaUnsupported' : 'ConnectionLost'
        }
      )
    )
  }
  if (vswitchd === 'not-running' || vswitchd === 'not-responding') {
    const seen = vswitchd === 'not-running' ? 'is not running' : 'runs but does not answer'
    found.push(
      finding(
        'VswitchdLost',
        'ovs-vswitchd',
        `ovs-vswitchd ${seen}, expected an answer within 1 s; what the database says of links is old. Look at its log, then restart it.`,
        { reason: vswitchd === 'not-running' ? 'NotRunning' : 'NotResponding' }
      )
    )
  }
  if (health?.model.configLag)
    found.push(
      finding(
        'ConfigLag',
        'ovs-vswitchd',
        'ovs-vswitchd has not carried out the latest configuration (next_cfg is ahead of cur_cfg). Look at its log.'
      )
    )
  if (health?.model.dpdk.wanted && !health.model.dpdk.enabled)
    found.push(
      finding(
        'DpdkNotInitialised',
        'dpdk',
        'DPDK is wanted (dpdk-init) but was not initialised. Check huge pages and the log of ovs-vswitchd.'
      )
    )
  return found
}

function agentFindings({ eventQueue, leftovers }: Observed): Finding[] {
  const queue =
    eventQueue.dropped > 0 || eventQueue.size >= 1000
      ? [
          finding(
            'EventQueueFull',
            'events',
            `${eventQueue.size} events wait for the sink and ${eventQueue.dropped} were left out. Check that the broker can be reached.`
          )
        ]
      : []
  return [
    ...queue,
    ...leftovers.map(id =>
      finding('CaptureLeftover', id, `Capture ${id} was left over by an agent that ended in the middle, and was removed.`)
    )
  ]
}
