// W1–W9: what may be stored, but somebody should know. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Machine } from '../schema/machine.ts'
import { fromWhole, parseQuantity } from '../schema/quantity.ts'
import type { Checked } from './machine-rules.ts'
import type { Known } from './machine-facts.ts'
import { merge, needsDataVolume } from './merge.ts'

type Warning = (checked: Checked, old: Machine | undefined) => string[]

const when = (condition: boolean | undefined, text: string): string[] => (condition ? [text] : [])

const twoUserData: Warning = ({ machine: { spec } }) =>
  when(spec.cloudInit?.userData !== undefined && spec.cloudInit.secretRef !== undefined, 'cloudInit.userData wins over cloudInit.secretRef')

const drainBlocked: Warning = ({ machine: { spec }, merged: { disks } }) => {
  const single = disks.filter(({ accessMode, source }) => /^ReadWriteOnce/.test(accessMode) && !source?.containerDisk)
  return when(spec.evictionStrategy === 'LiveMigrate' && single.length > 0, `a node cannot be drained: ${single[0]?.name} is ReadWriteOnce, so that the machine cannot migrate`)
}

const mebibyte = 1024n * 1024n
const noMemoryHotplug: Warning = ({ merged: { memory } }) => {
  const size = memory === undefined ? undefined : parseQuantity(memory)
  const fits = size === undefined || (size >= fromWhole(1024n * mebibyte) && size % fromWhole(2n * mebibyte) === 0n)
  return when(!fits, 'memory below 1Gi or not a multiple of 2Mi cannot be changed while the machine runs')
}

const restartNeeded: Warning = ({ merged: { cpu } }, old) => {
  if (old?.status?.phase !== 'Running') return []
  const before = merge(old.spec).cpu
  return when(before.cores !== cpu.cores || before.threads !== cpu.threads, 'cores and threads change at the next restart; only sockets and memory can change live')
}

/** A19: what could not be read is said, and never refused. */
const existence = (what: string, { known, ...found }: Known<unknown>): string[] =>
  known ? when(!('value' in found) || found.value === undefined, `${what} does not exist yet`) : [`${what} was not checked`]

const missing: Warning = ({ machine: { spec }, merged, facts }) => {
  const onClaims = merged.disks.filter(({ source }) => !source?.containerDisk).map(({ storageClass }) => storageClass)
  const onImages = merged.cdroms.filter(({ source }) => needsDataVolume(source) && !source.pvc).map(({ storageClass = 'default' }) => storageClass)
  const classes = new Set([...onClaims, ...onImages].filter(name => name !== 'default'))
  const networks = new Set(merged.networks.map(({ networkName }) => networkName))
  const { userData, secretRef } = spec.cloudInit ?? {}
  return [
    ...[...networks].flatMap(name => existence(`the NetworkConfiguration ${name}`, facts.network(name))),
    ...[...classes].flatMap(name => existence(`the StorageClass ${name}`, facts.storageClass(name))),
    ...(secretRef && userData === undefined ? existence(`the Secret ${secretRef.name}`, facts.secret(secretRef.name)) : [])
  ]
}

const templateLabel: Warning = ({ machine: { metadata, spec } }) => {
  const told = metadata.labels?.['vitistack.io/machine-template']
  return when(told !== undefined && told !== spec.template, `the label says template ${told}, the spec ${spec.template ?? 'none'}: the spec counts`)
}

const lateCloudInit: Warning = ({ machine: { spec } }, old) =>
  when(
    old?.status?.firstRunningAt !== undefined && !isDeepStrictEqual(old.spec.cloudInit, spec.cloudInit),
    'cloud-init changed after the first start: most guests ignore that'
  )

const sharedMac: Warning = ({ machine, merged: { networks }, facts }) =>
  networks.flatMap(({ networkName, macAddress }) => {
    const network = facts.network(networkName)
    if (!macAddress || !network.known) return []
    const others = network.value?.status?.machines?.filter(({ name }) => name !== machine.metadata.name) ?? []
    const twin = others.find(other => other.macAddress?.toLowerCase() === macAddress.toLowerCase())
    return when(twin !== undefined, `the MAC address ${macAddress} is used by ${twin?.name} on ${networkName}`)
  })

const volatileDisk: Warning = ({ merged: { disks } }) =>
  disks.filter(({ source }) => source?.containerDisk).map(({ name }) => `what is written to the disk ${name} is lost at power-off`)

export const warnings: Readonly<Record<string, Warning>> = {
  W1: twoUserData,
  W2: drainBlocked,
  W3: noMemoryHotplug,
  W4: restartNeeded,
  W5: missing,
  W6: templateLabel,
  W7: lateCloudInit,
  W8: sharedMac,
  W9: volatileDisk
}
