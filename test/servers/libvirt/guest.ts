// Small guests: the XML of a 64 MiB domain, and a 512-byte program that boots in it
import { writeFile } from 'node:fs/promises'

export interface GuestOptions {
  readonly devices?: string
  readonly onCrash?: 'destroy' | 'preserve' | 'restart'
  readonly balloon?: boolean
}

export function guestXml(name: string, { devices = '', onCrash = 'destroy', balloon = false }: GuestOptions = {}): string {
  return `<domain type='qemu'>
  <name>${name}</name>
  <memory unit='MiB'>64</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><boot dev='hd'/></os>
  <features><acpi/></features>
  <on_crash>${onCrash}</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='usb' model='none'/><memballoon model='${balloon ? 'virtio' : 'none'}'/>
    ${devices}
  </devices>
</domain>`
}

export const diskXml = (file: string) =>
  `<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${file}'/><target dev='hda' bus='ide'/><shareable/></disk>`

// guest.S, assembled
const code =
  'fa31c08ed88ed0bc007cbaf803b042eee4920c02e6920f0116ac7c0f20c06683c8010f22c0ea2a7c080066b810008ed88ec08ed0bc007c000066ba020666b8' +
  '000166efbb01000000bf000010008b0df47d0000c1e10885c9740b891f81c70010000049ebf14366ba000666ed66a90001740a66ba040666b8002066ef833df4' +
  '7d00000075c3b9400d0300f3904975fbebb78d76000000000000000000ffff0000009acf00ffff00000092cf001700947c'

/** A 1 MiB disk whose guest answers the ACPI power button and dirties that many MiB of its memory, over and over. */
export async function writeGuestImage(file: string, dirtyMiB = 0): Promise<void> {
  const disk = Buffer.alloc(1024 * 1024)
  disk.write(code, 'hex')
  disk.writeUInt32LE(dirtyMiB, 500) // read by the guest
  disk.writeUInt16LE(0xaa55, 510) // boot signature
  await writeFile(file, disk)
}
