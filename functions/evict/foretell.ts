// What a plan says of one server (EV-3, EV-8). Pure.
import type { Server } from 'openstack-sdk-lite'
import type { Judged } from './judge.ts'
import type { Seen } from './seen.ts'

const hints: ReadonlyArray<[key: RegExp, hint: string]> = [
  [/^pci_passthrough:/, 'it has a passed-through device'],
  [/^resources\d*:VGPU$/, 'it has a virtual GPU'],
  [/^hw:tpm_/, 'it has a virtual TPM']
]

/** Only Nova's answer decides; these are where it often says no. */
function hintsOf({ flavor, volumes }: Server): string[] {
  const keys = Object.keys(flavor?.extraSpecs ?? {})
  const special = hints.filter(([key]) => keys.some(name => key.test(name))).map(([, hint]) => hint)
  return volumes.length === 0 ? [...special, 'its disk is local'] : special
}

export function foretold(judged: Judged, { capacity }: Seen): Judged {
  const { candidate, server, entry } = judged
  if (!candidate || !server) return judged
  const hosts = capacity?.candidates.get(entry.id)
  const where = hosts === undefined ? '' : hosts.length > 0 ? ` Candidates: ${hosts.join(', ')}.` : ' No host has room for it.'
  const hint = hintsOf(server)
  const message = `Would be moved ${candidate === 'evacuate' ? 'from the dead host' : candidate}.${where}${hint.length > 0 ? ` Mind that ${hint.join(' and ')}.` : ''}`
  return { ...judged, entry: { ...entry, reason: hosts?.length === 0 ? 'NoCapacity' : 'Planned', message } }
}
