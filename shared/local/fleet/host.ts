// One simulated host: its power, its domains, its switch, the daemons that speak for them, and the files that agents read.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorldClock } from '../openstack/index.ts'
import { Domains } from './domains/domains.ts'
import type { SimDomain } from './domains/domain.ts'
import { startLibvirtd } from './libvirt/daemon.ts'
import { machine } from './libvirt/documents.ts'
import { hypervisorOf } from './libvirt/hypervisor.ts'
import type { Listener } from './listen.ts'
import { startOvsDaemons, type OvnLink } from './ovs/daemons.ts'
import { Switch } from './ovs/switch.ts'
import type { PlannedHost } from './plan.ts'

export interface HostOptions {
  plan: PlannedHost
  /** Sockets, and the files of the host. Short: a socket's path has at most 107 bytes. */
  folder: string
  clock: WorldClock
  newUuid: () => string
  /** When it began to run, as seen by its uptime. */
  bootedMs: number
  onAbort?: (domain: SimDomain) => void
}

const osRelease =
  'PRETTY_NAME="Garden Linux 1592.5"\nGARDENLINUX_VERSION=1592.5\nVARIANT_ID=kvm\nGARDENLINUX_FEATURES=kvm,log,ssh\n'

export class SimHost {
  readonly plan: PlannedHost
  readonly folder: string
  readonly domains: Domains
  readonly vswitch: Switch
  readonly ovn: OvnLink = { connected: true }
  power: 'on' | 'off' = 'on'
  bootId: string
  readonly #options: HostOptions
  #bootedMs: number
  #libvirtd: Listener | undefined
  #ovs: Listener | undefined
  #pid = 1000

  constructor(options: HostOptions) {
    this.#options = options
    this.plan = options.plan
    this.folder = options.folder
    this.domains = new Domains(options.clock)
    this.vswitch = new Switch(options.plan, options.newUuid)
    this.bootId = options.newUuid()
    this.#bootedMs = options.bootedMs
  }

  get name(): string {
    return this.plan.name
  }

  get libvirtUri(): string {
    return `qemu+unix:///system?socket=${join(this.folder, 'libvirt')}`
  }

  get libvirtRuns(): boolean {
    return this.#libvirtd !== undefined
  }

  /** Files and daemons, as after a boot. */
  async start(): Promise<void> {
    await mkdir(join(this.folder, 'etc'), { recursive: true })
    await mkdir(join(this.folder, 'proc/sys/kernel/random'), { recursive: true })
    await Promise.all([
      writeFile(join(this.folder, 'etc/os-release'), osRelease),
      writeFile(join(this.folder, 'proc/cmdline'), 'ro quiet intel_iommu=on\n'),
      writeFile(join(this.folder, 'proc/sys/kernel/random/boot_id'), `${this.bootId}\n`),
      this.writeUptime(),
      this.startLibvirt(),
      this.#startOvs()
    ])
  }

  async writeUptime(): Promise<void> {
    const seconds = Math.max(0, (this.#options.clock.now() - this.#bootedMs) / 1000)
    await writeFile(join(this.folder, 'proc/uptime'), `${seconds.toFixed(2)} 0.00\n`)
  }

  async startLibvirt(): Promise<void> {
    if (this.#libvirtd) return
    const { clock, newUuid, onAbort } = this.#options
    const hypervisor = hypervisorOf({
      name: this.name,
      domains: this.domains,
      clock,
      machine,
      newUuid,
      ...(onAbort && { onAbort })
    })
    this.#libvirtd = await startLibvirtd(join(this.folder, 'libvirt'), hypervisor, this.domains)
  }

  async stopLibvirt(): Promise<void> {
    const running = this.#libvirtd
    this.#libvirtd = undefined
    await running?.close()
  }

  /** Everything that ran is gone, without a word. */
  async cutPower(): Promise<void> {
    this.power = 'off'
    await this.close()
    this.domains.vanish()
    this.vswitch.unplugAll()
  }

  /** The kernel and the daemons; the guests are for Nova to start. */
  async boot(): Promise<void> {
    this.power = 'on'
    this.bootId = this.#options.newUuid()
    this.#bootedMs = this.#options.clock.now()
    this.ovn.connected = true
    await this.start()
  }

  async close(): Promise<void> {
    const ovs = this.#ovs
    this.#ovs = undefined
    await Promise.all([this.stopLibvirt(), ovs?.close()])
  }

  async #startOvs(): Promise<void> {
    this.#pid += 10 // a daemon that starts anew has another pid
    this.#ovs ??= await startOvsDaemons(this.folder, this.vswitch, this.ovn, this.#pid)
  }
}
