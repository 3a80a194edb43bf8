// The peer: Pepr's controller as it ships, with the rules of Machines written for it by hand. Run with the folder that it is installed in.
import { createRequire } from 'node:module'
import { join } from 'node:path'

interface Spec {
  template?: string
  resources?: { cpu?: { cores?: number; threads?: number; sockets?: number }; memory?: { size?: string } }
  disks?: Array<{ name: string; size?: string; accessMode?: string }>
  cdroms?: Array<{ name: string }>
  networks?: Array<{ name: string; macAddress?: string }>
  bootOrder?: string[]
}
interface Request {
  Raw: { metadata: { name: string }; spec: Spec }
  Approve(): unknown
  Deny(message: string, code: number): unknown
}
interface Pepr {
  PeprModule: new (config: object, capabilities: unknown[], options: object) => { start(port: number): void }
  Capability: new (config: object) => {
    When(kind: unknown): { IsCreatedOrUpdated(): { Validate(check: (request: Request) => unknown): void } }
  }
  RegisterKind: (kind: unknown, group: object) => void
  a: { GenericKind: new () => object }
}

const [folder = '', port = ''] = process.argv.slice(2)
const { PeprModule, Capability, RegisterKind, a } = createRequire(join(folder, 'package.json'))('pepr') as Pepr
class Machine extends a.GenericKind {}
RegisterKind(Machine, { group: 'vitistack.io', version: 'v1alpha1', kind: 'Machine' })

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const quantity = /^\d+(\.\d+)?(Ki|Mi|Gi|Ti)?$/
const mac = /^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$/i

function problems({ metadata, spec }: Request['Raw']): string[] {
  const { cores = 1, threads = 1, sockets = 1 } = spec.resources?.cpu ?? {}
  const devices = [...(spec.disks ?? []), ...(spec.cdroms ?? [])]
  const macs = (spec.networks ?? []).flatMap(nic => nic.macAddress?.toLowerCase() ?? [])
  const counts: Record<string, number> = { disk: 1, network: 1, cdrom: spec.cdroms?.length ?? 0 }
  return [
    ...(['small', 'medium', 'large'].includes(spec.template ?? '') ? [] : ['template']),
    ...(label.test(metadata.name) && metadata.name.length <= 63 ? [] : ['name']),
    ...devices.filter(({ name }) => !label.test(name)).map(({ name }) => `name ${name}`),
    ...(new Set(devices.map(({ name }) => name)).size === devices.length ? [] : ['a name twice']),
    ...(spec.disks ?? []).filter(({ size }) => size !== undefined && !quantity.test(size)).map(({ name }) => `size of ${name}`),
    ...(spec.resources?.memory?.size === undefined || quantity.test(spec.resources.memory.size) ? [] : ['memory']),
    ...(cores * threads * sockets > 512 ? ['cpu'] : []),
    ...(spec.disks?.[0]?.accessMode === 'ReadOnlyMany' ? ['accessMode'] : []),
    ...macs.filter(address => !mac.test(address)),
    ...(new Set(macs).size === macs.length ? [] : ['a MAC twice']),
    ...(spec.bootOrder ?? []).filter(entry => counts[entry] === 0)
  ]
}

const capability = new Capability({ name: 'machines', description: 'rules of Machines', namespaces: [] })
capability
  .When(Machine)
  .IsCreatedOrUpdated()
  .Validate(request => {
    const wrong = problems(request.Raw)
    return wrong.length === 0 ? request.Approve() : request.Deny(wrong.join('; '), 422)
  })
const pepr = { uuid: 'drover-bench', onError: 'reject', alwaysIgnore: { namespaces: [] } }
new PeprModule({ description: 'bench', pepr }, [capability], { deferStart: true }).start(Number(port))
