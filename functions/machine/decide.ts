// What to do next for one Machine, from what was seen (spec/machine.md §5). Pure: no I/O, no clock.
import { checkMachine } from '../../shared/rules/machine.ts'
import type { MachineFacts } from '../../shared/rules/machine-facts.ts'
import { confirmedRemovals } from '../../shared/rules/machine-update-rules.ts'
import { isUnknownTemplate, merge, needsDataVolume, type Merged } from '../../shared/rules/merge.ts'
import { inWords } from '../../shared/rules/rule.ts'
import type { PersistentVolumeClaim, Secret } from '../../shared/kube/kinds.ts'
import { parseQuantity } from '../../shared/schema/quantity.ts'
import { attachmentConflicts, attachmentsToWrite } from './attachments.ts'
import { carryOver } from './carry-over.ts'
import type { Problem } from './errors.ts'
import type { DataVolume, NetworkAttachment, VirtualMachine } from './kubevirt.ts'
import { claimName, finalizer, isOurs, ownedBy, secretName } from './names.ts'
import type { Options } from './options.ts'
import { render, type Rendered } from './render.ts'
import { foundKey, neededSecret } from './render-cloud-init.ts'
import { isDefaultClass, type Claim } from './render-storage.ts'
import type { Seen } from './seen.ts'

/** In this order, each may be repeated. `live` is what was seen of the object. */
export type Action =
  | { do: 'hold' } // the finalizer, before any child exists (F1)
  | { do: 'attach'; attachment: NetworkAttachment; live: NetworkAttachment | undefined }
  | { do: 'keep-secret'; secret: Secret; live: Secret | undefined }
  | { do: 'claim'; claim: Claim }
  | { do: 'grow'; claim: PersistentVolumeClaim; size: string }
  | { do: 'fill'; dataVolume: DataVolume }
  | { do: 'keep-vm'; vm: VirtualMachine; live: VirtualMachine | undefined }
  | { do: 'discard'; claim?: PersistentVolumeClaim; dataVolume?: DataVolume } // S8
  | { do: 'discard-secret'; secret: Secret }

export interface Plan {
  problems: Problem[]
  actions: Action[]
}

export function decide(seen: Seen, options: Options): Plan {
  const { machine, vm } = seen
  const invalid = specProblems(seen, options)
  if (invalid.length > 0) return { problems: invalid, actions: [] } // T1: nothing made, nothing removed
  const merged = merge(machine.spec)
  const missing = missingNetworks(seen, merged)
  const problems = [...missing, ...classProblems(seen, merged, options), ...secretProblems(seen), ...absentParts(seen, merged)]
  // N2: a VM that exists keeps its networks and everything else goes on
  if (problems.length > missing.length || (missing.length > 0 && !vm)) return { problems, actions: [] }
  const networkOf = (name: string) => seen.networks.find(({ metadata }) => metadata.name === name)
  const rendered = render(machine, networkOf, seen.source?.data, { ...options, hasClassDefault: seen.classes.has('default') })
  const conflicts = nameConflicts(seen, rendered, merged)
  if (conflicts.length > 0) return { problems: [...problems, ...conflicts], actions: [] } // T6
  return { problems, actions: actionsFor(seen, rendered, missing.length > 0) }
}

function specProblems({ machine, networks }: Seen, options: Options): Problem[] {
  if (isUnknownTemplate(machine.spec)) {
    const message = `there is no template ${machine.spec.template}: use small, medium or large`
    return [{ type: 'TemplateNotFound', about: 'spec', message, final: true }]
  }
  const facts: MachineFacts = {
    ...options,
    network: name => ({ known: true, value: networks.find(({ metadata }) => metadata.name === name) }),
    // only warnings ask for these
    storageClass: () => ({ known: false }),
    secret: () => ({ known: false })
  }
  // A20: the rules of the webhook, asked as for a new object.
  const { violations } = checkMachine(machine, undefined, facts)
  if (violations.length === 0) return []
  return [{ type: 'InvalidSpec', about: 'spec', message: violations.slice(0, 5).map(inWords).join('; '), final: true }]
}

function missingNetworks({ networks }: Seen, merged: Merged): Problem[] {
  const known = new Set(networks.map(({ metadata }) => metadata.name))
  const wanted = new Set(merged.networks.map(({ networkName }) => networkName))
  return [...wanted]
    .filter(name => !known.has(name))
    .map(network => {
      const message = `the NetworkConfiguration ${network} does not exist in this namespace: create it or correct networks[].networkName`
      return { type: 'NetworkConfigurationNotFound', about: 'network', message, network }
    })
}

/** Only for claims that are still to be made: what is bound needs its class no more. */
function classProblems(seen: Seen, { disks, cdroms }: Merged, options: Options): Problem[] {
  const { machine, claims, classes } = seen
  const exists = new Set(claims.map(({ metadata }) => metadata?.name))
  const devices = [
    ...disks.filter(({ source }) => !source?.containerDisk),
    ...cdroms.filter(({ source }) => needsDataVolume(source) && !source.pvc)
  ]
  const wanted = new Set(
    devices
      .filter(({ name }) => !exists.has(claimName(machine.metadata.name, name)))
      .map(({ storageClass = 'default' }) => storageClass)
  )
  return [...wanted]
    .filter(name => !isDefaultClass(name, { ...options, hasClassDefault: classes.has('default') }) && !classes.has(name))
    .map(name => {
      const message = `the StorageClass ${name} does not exist: create it or correct disks[].storageClass`
      return { type: 'StorageClassNotFound', about: 'storage', message }
    })
}

function secretProblems({ machine, source }: Seen): Problem[] {
  const needed = neededSecret(machine)
  if (!needed) return []
  const { name, key } = needed
  if (!source)
    return [
      { type: 'CloudInitSecretNotFound', about: 'spec', message: `waiting for the Secret ${name} with cloud-init user data` }
    ]
  if (foundKey(source.data ?? {}, key) !== undefined) return []
  return [{ type: 'CloudInitSecretNotFound', about: 'spec', message: `waiting for the key ${key} in the Secret ${name}` }]
}

/** E5, D3: told, and not fatal. */
function absentParts({ absent, networks }: Seen, merged: Merged): Problem[] {
  const filled = [...merged.disks, ...merged.cdroms].some(({ source }) => needsDataVolume(source))
  const bridged = merged.networks.some(nic =>
    networks.some(({ metadata, spec }) => metadata.name === nic.networkName && !spec.podNetwork)
  )
  const told = (part: string, about: Problem['about'], why: string): Problem => ({
    type: 'KubeVirtApiError',
    about,
    message: `${part} is not installed in this cluster, but ${why}`
  })
  return [
    ...(absent.has('KubeVirt') ? [told('KubeVirt', 'vm', 'runs every Machine: install it')] : []),
    ...(absent.has('CDI') && filled ? [told('CDI', 'storage', 'a disk with a source needs it')] : []),
    ...(absent.has('Multus') && bridged ? [told('Multus', 'network', 'a network on a bridge or a nadRef needs it')] : [])
  ]
}

function nameConflicts(seen: Seen, { vm, claims, dataVolumes, secret, attachments }: Rendered, merged: Merged): Problem[] {
  const { machine } = seen
  const taken = (kind: string, name: string, about: Problem['about']): Problem => ({
    type: 'NameConflict',
    about,
    message: `the ${kind} ${name} exists and does not belong to this Machine: rename or delete one of the two`
  })
  const filled = new Set(dataVolumes.map(({ metadata }) => metadata.name))
  const foreignClaims = seen.claims.filter(claim => {
    const name = claim.metadata?.name ?? ''
    if (filled.has(name)) return !isFilledFor(claim, seen)
    return claims.some(({ metadata }) => metadata.name === name) && !isOurs(claim, machine)
  })
  const foreignVolumes = seen.dataVolumes
    .filter(({ metadata }) => filled.has(metadata.name))
    .filter(volume => !isOurs(volume, machine))
  return [
    ...(seen.vm && !isOurs(seen.vm, machine) ? [taken('VirtualMachine', vm.metadata.name, 'vm')] : []),
    ...foreignClaims.map(({ metadata }) => taken('PersistentVolumeClaim', metadata?.name ?? '', 'storage')),
    ...foreignVolumes.map(({ metadata }) => taken('DataVolume', metadata.name, 'storage')),
    ...(secret && seen.own && seen.own !== 'unasked' && !isOurs(seen.own, machine)
      ? [taken('Secret', secretName(machine.metadata.name), 'vm')]
      : []),
    ...attachmentConflicts(seen, merged, attachments)
  ]
}

/** S7: the claim that CDI made for our DataVolume, also after CDI took the DataVolume away. */
function isFilledFor(claim: PersistentVolumeClaim, { machine, dataVolumes }: Seen): boolean {
  if (isOurs(claim, machine)) return true
  return dataVolumes.some(volume => isOurs(volume, machine) && ownedBy(claim, volume.metadata.uid))
}

function actionsFor(seen: Seen, rendered: Rendered, keepNetworks: boolean): Action[] {
  const { machine, vm: live } = seen
  const kept = { power: machine.spec.powerState === undefined, networks: keepNetworks }
  const held = machine.metadata.finalizers?.includes(finalizer) ?? false
  return [
    ...(held ? [] : [{ do: 'hold' } as const]),
    ...attachmentsToWrite(seen, rendered.attachments),
    ...secretActions(seen, rendered.secret),
    ...missingClaims(seen, rendered),
    { do: 'keep-vm', vm: carryOver(rendered.vm, live, kept), live },
    ...growth(seen, rendered), // last: a class that cannot grow holds up nothing else
    ...discards(seen, rendered)
  ]
}

function secretActions({ machine, own }: Seen, secret: Secret | undefined): Action[] {
  if (own === 'unasked') return []
  if (secret) return [{ do: 'keep-secret', secret, live: own }]
  return own && isOurs(own, machine) ? [{ do: 'discard-secret', secret: own }] : []
}

const requestOf = (claim: PersistentVolumeClaim): string => claim.spec?.resources?.requests?.['storage'] ?? '0'
const isLarger = (size: string, than: string): boolean => (parseQuantity(size) ?? 0n) > (parseQuantity(than) ?? 0n)

const claimsByName = ({ claims }: Seen) => new Map(claims.map(claim => [claim.metadata?.name, claim]))

function missingClaims(seen: Seen, { claims, dataVolumes }: Rendered): Action[] {
  const claimOf = claimsByName(seen)
  const filled = new Set(seen.dataVolumes.map(({ metadata }) => metadata.name))
  return [
    ...claims.filter(({ metadata }) => !claimOf.has(metadata.name)).map((claim): Action => ({ do: 'claim', claim })),
    // S7: a DataVolume that is gone while its claim is there has done its work
    ...dataVolumes
      .filter(({ metadata }) => !claimOf.has(metadata.name) && !filled.has(metadata.name))
      .map((dataVolume): Action => ({ do: 'fill', dataVolume }))
  ]
}

/** S5: claims only grow, and whoever made one larger by hand is not undone. CDI refuses any change of a DataVolume: its claim grows. */
function growth(seen: Seen, { claims, dataVolumes }: Rendered): Action[] {
  const claimOf = claimsByName(seen)
  const sizes = [
    ...claims.map(({ metadata, spec }) => [metadata.name, spec.resources.requests.storage] as const),
    ...dataVolumes.map(({ metadata, spec }) => [metadata.name, spec.storage?.resources?.requests.storage ?? '0'] as const)
  ]
  return sizes.flatMap(([name, size]): Action[] => {
    const claim = claimOf.get(name)
    const bound = claim?.status?.phase === 'Bound' // the server resizes no other
    return claim && bound && isLarger(size, requestOf(claim)) ? [{ do: 'grow', claim, size }] : []
  })
}

/** S8: after the user agreed, and when no instance uses the volume any more. */
function discards({ machine, claims, dataVolumes, vmi }: Seen, rendered: Rendered): Action[] {
  const wanted = new Set([...rendered.claims, ...rendered.dataVolumes].map(({ metadata }) => metadata.name))
  const inUse = new Set(vmi?.spec?.volumes?.map(({ name }) => name))
  return confirmedRemovals(machine).flatMap((disk): Action[] => {
    const name = claimName(machine.metadata.name, disk)
    if (wanted.has(name) || inUse.has(disk)) return []
    const dataVolume = dataVolumes.find(volume => volume.metadata.name === name && isOurs(volume, machine))
    const claim = claims.find(({ metadata }) => metadata?.name === name)
    const ours = claim && (isOurs(claim, machine) || (dataVolume && ownedBy(claim, dataVolume.metadata.uid)))
    return dataVolume || ours ? [{ do: 'discard', ...(ours && { claim }), ...(dataVolume && { dataVolume }) }] : []
  })
}
