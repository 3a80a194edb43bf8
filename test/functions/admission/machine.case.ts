// An object that trips one rule about Machines or NetworkConfigurations, its neighbour that passes, and parts of both.

export interface Case {
  id: string
  /** Defaults to Machine. */
  kind?: 'Machine' | 'NetworkConfiguration'
  name?: string
  /** Stored before, so that the write is an update; without the webhook's say. */
  was?: object
  status?: object
  metadata?: object
  bad: object
  good: object
  goodMetadata?: object
}

export const nic = (name: string, networkName: string, macAddress?: string) => ({
  name,
  networkName,
  ...(macAddress && { macAddress })
})
export const root = (more: object) => ({ template: 'small', disks: [{ name: 'root', ...more }] })
export const iso = { containerDisk: { image: 'images.example.org/tools:1' } }
