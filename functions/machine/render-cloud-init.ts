// What a guest reads at its first start (spec/machine.md §5.5). Pure.
import type { Secret } from '../../shared/kube/kinds.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { Volume } from './kubevirt.ts'
import { childMeta, secretName } from './names.ts'

type CloudInit = NonNullable<Machine['spec']['cloudInit']>

/** The Secret of the user, as it is stored: base64 by key. */
export type SecretData = Readonly<Record<string, string>>

export interface RenderedCloudInit {
  volume?: Volume
  secret?: Secret
}

/** C4: keys that KubeVirt reads by itself. */
const knownKeys = ['userdata', 'userData']
const keyOf = ({ secretRef }: CloudInit): string => secretRef?.key ?? 'userdata'

/** C3, C5: the Secret, and the key in it, that must be there before anything can be rendered. */
export function neededSecret({ spec: { cloudInit } }: Machine): { name: string; key: string } | undefined {
  if (!cloudInit?.secretRef || cloudInit.userData) return undefined // C2: inline wins
  return { name: cloudInit.secretRef.name, key: keyOf(cloudInit) }
}

const isDirect = (cloudInit: CloudInit): boolean => knownKeys.includes(keyOf(cloudInit)) && !cloudInit.networkData

/** The key under which the user's data is found: KubeVirt takes either spelling. */
export const foundKey = (data: SecretData, key: string): string | undefined =>
  [key, ...(knownKeys.includes(key) ? knownKeys : [])].find(name => data[name] !== undefined)

export function renderCloudInit(machine: Machine, source: SecretData | undefined): RenderedCloudInit {
  const { cloudInit } = machine.spec
  if (!cloudInit) return {}
  const { userData, networkData } = cloudInit
  const needed = neededSecret(machine)
  if (needed && isDirect(cloudInit)) return { volume: volume({ secretRef: { name: needed.name } }) }
  const copied = needed && source ? source[foundKey(source, needed.key) ?? ''] : undefined
  const userdata = userData ? base64(userData) : copied
  const networkdata = networkData ? base64(networkData) : undefined
  if (userdata === undefined && networkdata === undefined) return {} // C1
  const name = secretName(machine.metadata.name)
  return {
    volume: volume({
      ...(userdata !== undefined && { secretRef: { name } }),
      ...(networkdata !== undefined && { networkDataSecretRef: { name } })
    }),
    secret: {
      metadata: childMeta(machine, name),
      data: { ...(userdata !== undefined && { userdata }), ...(networkdata !== undefined && { networkdata }) }
    }
  }
}

const volume = (cloudInitNoCloud: NonNullable<Volume['cloudInitNoCloud']>): Volume => ({
  name: 'cloudinitdisk',
  cloudInitNoCloud
})
const base64 = (text: string): string => Buffer.from(text).toString('base64')
