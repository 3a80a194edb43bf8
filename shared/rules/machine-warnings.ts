// W1–W9: what may be stored, but somebody should know. Pure.
import { isDeepStrictEqual } from 'node:util'
import { fromWhole, parseQuantity } from '../schema/quantity.ts'
import type { Violation } from '../schema/violation.ts'
import type { Known, MachineAsked } from './machine-facts.ts'
import { cdromPath, diskPath, networkPath } from './machine-paths.ts'
import { merge, needsDataVolume } from './merge.ts'
import { breach, breaches, type Rule } from './rule.ts'

type Warning = Rule<MachineAsked>

const when = (condition: boolean | undefined, path: string, message: string): Violation[] =>
  condition ? [breach(path, message)] : []

const twoUserData: Warning = {
  id: 'W1',
  weight: 'warned',
  what: 'user data both inline and by Secret',
  example: 'spec: {template: small, cloudInit: {userData: "#cloud-config", secretRef: {name: init}}}',
  fix: 'keep one of them; inline wins',
  check: ({ machine: { spec } }) =>
    when(
      spec.cloudInit?.userData !== undefined && spec.cloudInit.secretRef !== undefined,
      'spec.cloudInit.secretRef',
      'is not used: userData wins over it; remove one of the two'
    )
}

const drainBlocked: Warning = {
  id: 'W2',
  weight: 'warned',
  what: 'evictionStrategy LiveMigrate with a disk that only one node can use',
  example: 'spec: {template: small, evictionStrategy: LiveMigrate}',
  fix: 'use ReadWriteMany disks or LiveMigrateIfPossible',
  check({ machine: { spec }, merged: { disks } }) {
    if (spec.evictionStrategy !== 'LiveMigrate') return []
    const single = disks.find(({ accessMode, source }) => accessMode.startsWith('ReadWriteOnce') && !source?.containerDisk)
    const message = `a node cannot be drained: the disk ${single?.name} is ${single?.accessMode}, so that the machine cannot migrate; use ReadWriteMany or LiveMigrateIfPossible`
    return when(single !== undefined, 'spec.evictionStrategy', message)
  }
}

const mebibyte = 1024n * 1024n
const noMemoryHotplug: Warning = {
  id: 'W3',
  weight: 'warned',
  what: 'memory below 1Gi or not a multiple of 2Mi',
  example: 'spec: {template: small, resources: {memory: {size: 513Mi}}}',
  fix: 'use 1Gi or more, in steps of 2Mi',
  check({ merged: { memory } }) {
    const size = memory === undefined ? undefined : parseQuantity(memory)
    const fits = size === undefined || (size >= fromWhole(1024n * mebibyte) && size % fromWhole(2n * mebibyte) === 0n)
    return when(
      !fits,
      'spec.resources.memory.size',
      'below 1Gi or not a multiple of 2Mi: it cannot be changed while the machine runs'
    )
  }
}

const restartNeeded: Warning = {
  id: 'W4',
  weight: 'warned',
  what: 'cores or threads changed on a running Machine',
  example: 'spec: {template: small, resources: {cpu: {cores: 8}}}',
  fix: 'restart the machine when it suits; sockets and memory can change live',
  check({ merged: { cpu }, old }) {
    if (old?.status?.phase !== 'Running') return []
    const before = merge(old.spec).cpu
    const changed = before.cores !== cpu.cores || before.threads !== cpu.threads
    return when(
      changed,
      'spec.resources.cpu',
      'cores and threads change at the next restart; only sockets and memory can change live'
    )
  }
}

type Places = Map<string, () => string>

/** A19: what could not be read is said, and never refused. Each name once, wherever it stands. */
const existence = (what: string, places: Places, look: (name: string) => Known<unknown>): Violation[] =>
  breaches(
    [...places],
    ([name]) => {
      const found = look(name)
      if (!found.known) return `${what} ${name} was not checked`
      return found.value === undefined
        ? `${what} ${name} does not exist yet: create it, or the machine will wait for it`
        : undefined
    },
    ([, place]) => place()
  )

const missing: Warning = {
  id: 'W5',
  weight: 'warned',
  what: 'a NetworkConfiguration, StorageClass or Secret that does not exist yet',
  example: 'spec: {template: small, networks: [{name: eth0, networkName: no-such-net}]}',
  fix: 'create it; the machine waits for it',
  check({ machine, merged, facts }) {
    const { userData, secretRef } = machine.spec.cloudInit ?? {}
    const classes: Places = new Map()
    for (const { name, storageClass, source } of merged.disks)
      if (storageClass !== 'default' && !source?.containerDisk)
        classes.set(storageClass, () => diskPath(machine, name, 'storageClass'))
    for (const [i, { source, storageClass = 'default' }] of merged.cdroms.entries())
      if (storageClass !== 'default' && needsDataVolume(source) && !source.pvc)
        classes.set(storageClass, () => cdromPath(i, 'storageClass'))
    const networks: Places = new Map(
      merged.networks.map(({ networkName }, i) => [networkName, () => networkPath(i, 'networkName')])
    )
    const secrets: Places = new Map()
    if (secretRef && userData === undefined) secrets.set(secretRef.name, () => 'spec.cloudInit.secretRef.name')
    return [
      ...existence('the NetworkConfiguration', networks, name => facts.network(name)),
      ...existence('the StorageClass', classes, name => facts.storageClass(name)),
      ...existence('the Secret', secrets, name => facts.secret(name))
    ]
  }
}

const templateLabel: Warning = {
  id: 'W6',
  weight: 'warned',
  what: 'a label vitistack.io/machine-template that differs from spec.template',
  example: '{metadata: {labels: {vitistack.io/machine-template: large}}, spec: {template: small}}',
  fix: 'correct the label; the spec counts',
  check({ machine: { metadata, spec } }) {
    const told = metadata.labels?.['vitistack.io/machine-template']
    const message = `says template ${told}, the spec ${spec.template ?? 'none'}: the spec counts, correct the label`
    return when(told !== undefined && told !== spec.template, 'metadata.labels[vitistack.io/machine-template]', message)
  }
}

const lateCloudInit: Warning = {
  id: 'W7',
  weight: 'warned',
  what: 'cloud-init changed after the first start',
  example: 'spec: {template: small, cloudInit: {userData: "#cloud-config"}}',
  fix: 'most guests read it once; change the guest itself or make it anew',
  check: ({ machine: { spec }, old }) =>
    when(
      old?.status?.firstRunningAt !== undefined && !isDeepStrictEqual(old.spec.cloudInit, spec.cloudInit),
      'spec.cloudInit',
      'changed after the first start: most guests ignore that'
    )
}

const sharedMac: Warning = {
  id: 'W8',
  weight: 'warned',
  what: 'a MAC address that another Machine uses on the same network',
  example: 'spec: {template: small, networks: [{name: eth0, networkName: prod, macAddress: "52:54:00:00:00:01"}]}',
  fix: 'choose another address or leave it out',
  check: ({ machine, merged: { networks }, facts }) =>
    breaches(
      networks,
      ({ networkName, macAddress }) => {
        const network = macAddress === undefined ? undefined : facts.network(networkName)
        if (!network?.known || macAddress === undefined) return undefined
        const others = network.value?.status?.machines?.filter(({ name }) => name !== machine.metadata.name) ?? []
        const twin = others.find(other => other.macAddress?.toLowerCase() === macAddress.toLowerCase())
        return twin && `${macAddress} is used by the Machine ${twin.name} on ${networkName} too`
      },
      (_, i) => networkPath(i, 'macAddress')
    )
}

const volatileDisk: Warning = {
  id: 'W9',
  weight: 'warned',
  what: 'a containerDisk as a disk',
  example: 'spec: {template: small, disks: [{name: scratch, source: {containerDisk: {image: debian}}}]}',
  fix: 'use a registry source to keep what is written',
  check: ({ machine, merged: { disks } }) =>
    breaches(
      disks,
      ({ name, source }) =>
        source?.containerDisk && `what is written to the disk ${name} is lost at power-off: use a registry source to keep it`,
      ({ name }) => diskPath(machine, name, 'source.containerDisk')
    )
}

export const machineWarnings: readonly Warning[] = [
  twoUserData,
  drainBlocked,
  noMemoryHotplug,
  restartNeeded,
  missing,
  templateLabel,
  lateCloudInit,
  sharedMac,
  volatileDisk
]
