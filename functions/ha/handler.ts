import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import type { EventKind, ObjectRef } from '../../shared/events/kind.ts'
import * as libvirt from '../../shared/events/libvirt.ts'
import { hypervisorChanged, nodeChanged, ovsNodeChanged } from '../../shared/events/objects.ts'
import * as ovs from '../../shared/events/ovs.ts'
import { keepList } from '../../shared/kube/kept-list.ts'
import { hostFields, hostOf, openHostDeps } from '../../shared/openstack/host-function.ts'
import { defineFunction, on, type Reaction, type Received } from '../../shared/runtime/function.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { createEngine, type Engine } from './engine.ts'
import { explain, type ExplainDeps } from './explain.ts'
import { haMetrics, type Measure } from './metrics.ts'
import { outline } from './outline.ts'
import { policyFile } from './policy-file.ts'
import type { Policy } from './policy.ts'
import { hear, rows } from './reactions.ts'
import { manager } from './scheduling.ts'

const config = Type.Object({
  ...hostFields,
  policyFile: Type.Optional(Type.String({ description: 'path of the policy (YAML); left out: every default' })),
  ovsNamespace: Type.String({ default: 'ovn-system', description: 'where the OVSNodes are' }),
  explainTo: Type.Enum(['allowed', 'everybody'], {
    default: 'allowed',
    description: 'who may ask for /explain: whom the API server lets read the host, or everybody (on one machine)'
  })
})

interface Deps extends ExplainDeps {
  engine: Engine
  measure: Measure
  policy: () => Promise<Policy>
}

/** Events of one host come together in the engine, so none waits here for another: a burst is written at once (HA-17). */
const alone = ({ id }: Received): string => id

/** All that a row knows of; what it says is written down before the answer. */
const rowReactions: Reaction<Deps>[] = [...new Map(rows.map(({ kind }) => [kind.type, kind])).values()].map(kind =>
  on(kind, { key: alone }, async ({ data, traceparent }, { engine, measure, policy }: Deps) => {
    measure.heard(kind.type)
    const { host } = data as { host: string }
    const heard = hear(kind, data as object, traceparent, await policy())
    // a domain that runs again may end an incident; nothing else that is only recorded changes anything
    if (heard.length > 0 || kind.type === libvirt.domainChanged.type) await engine.hear(host, heard)
  })
)

/** The objects say what is wrong; these say only "look". */
const hints: readonly EventKind[] = [
  libvirt.libvirtLost,
  libvirt.libvirtRestored,
  libvirt.heartbeatMissed,
  ...ovs.ovsKinds.filter(({ reactedBy }) => reactedBy.includes('ha'))
]

const hintReactions: Reaction<Deps>[] = hints.map(kind =>
  on(kind, { key: alone }, async ({ data }, { engine, measure }: Deps) => {
    measure.heard(kind.type)
    const { host, node } = data as { host?: string; node?: string }
    await engine.hear(host ?? node ?? '', [])
  })
)

const look = ({ engine }: Deps, event: Received<ObjectRef>): Promise<void> => engine.hear(hostOf(event), [])

export default defineFunction({
  name: 'ha',
  config,

  async open({ policyFile: path, ovsNamespace, explainTo, ...host }, platform): Promise<Deps> {
    const { clock, log, emit, metrics, onClose, signal } = platform
    const policy = await policyFile(path, log, () => clock().getTime())
    const deps = await openHostDeps(manager, host, platform)
    const hosts = keepList(deps.kube, Hypervisor, { signal, log, trim: outline })
    const measure = haMetrics(metrics, clock)
    const engine = createEngine({ ...deps, hosts, ovsNamespace, policy, measure, emit })
    onClose(() => engine.close())
    return { engine, measure, policy, kube: deps.kube, clock, explainTo }
  },

  reactions: [
    ...rowReactions,
    ...hintReactions,
    // its own writes of the status are no news
    on(hypervisorChanged, { key: alone, changed: ['created', 'annotations', 'spec', 'conditions'] }, (event, deps: Deps) =>
      look(deps, event)
    ),
    on(ovsNodeChanged, { key: alone, changed: ['created', 'conditions', 'status'] }, ({ data }, { engine }: Deps) =>
      engine.hear(data.name, [])
    ),
    on(nodeChanged, { key: alone, changed: ['conditions'] }, ({ data }, { engine }: Deps) => engine.hear(data.name, [])),
    on(tick, { key: () => 'tick' }, ({ data }, { engine }: Deps) => engine.sweep(data.tick === 'slow'))
  ],

  routes: { '/explain': explain }
})
