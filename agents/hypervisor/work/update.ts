// The update of the operating system (NA-23…25). Pure: what is wanted and what is known in, the next step out.
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { UpdateStatus, Verdict } from '../known.ts'

export interface UpdateView {
  spec: Hypervisor['spec']
  /** True once the eviction of this maintenance has succeeded. */
  drained: boolean
  running: string | undefined
  bootId: string
  status: UpdateStatus
  /** Kept on the node: what was tried last, and in which boot it was installed. */
  tried?: { version: string; bootId: string }
}

export type UpdateStep =
  | { do: 'nothing'; condition?: Verdict }
  | { do: 'wait'; reason: string }
  /** Another version is wanted: the tries begin anew. */
  | { do: 'begin'; version: string }
  | { do: 'start'; unit: string; version: string }
  | { do: 'reboot'; unit: string }

export const tries = 3
const rebootUnit = 'systemd-sysupdate-reboot.target'

export const verdict = (status: 'True' | 'False', reason: 'Running' | 'Completed' | 'Stopped', message: string): Verdict => ({
  type: 'OperatingSystemUpdate',
  status,
  reason,
  message
})

export const updateUnit = (version: string): string =>
  version === 'latest' ? 'systemd-sysupdate.service' : `systemd-sysupdate@${version}.service`

export function decideUpdate({ spec, drained, running, bootId, status, tried }: UpdateView): UpdateStep {
  const version = spec?.version ?? ''
  if (version === '' || running === undefined) return { do: 'nothing' }
  const isTried = tried?.version === version
  if (version === running) {
    const message = isTried && tried.bootId !== bootId ? `${version} runs, verified after the reboot` : `${version} runs`
    return { do: 'nothing', ...(tried && { condition: verdict('True', 'Completed', message) }) }
  }
  if (status.installed === version) return installed({ spec, bootId, version, ...(tried && { tried }) })
  if (!isTried) return { do: 'begin', version }
  if (status.retry <= 0)
    return {
      do: 'nothing',
      condition: verdict(
        'False',
        'Stopped',
        `${version} could not be installed in ${tries} tries; a new try needs another version`
      )
    }
  // a drained host first, where somebody asked for the whole saga
  if (spec?.maintenance === 'auto' && !drained)
    return { do: 'wait', reason: `the update to ${version} waits until the host is drained` }
  return { do: 'start', unit: updateUnit(version), version }
}

function installed({
  spec,
  bootId,
  version,
  tried
}: {
  spec: Hypervisor['spec']
  bootId: string
  version: string
  tried?: { bootId: string }
}): UpdateStep {
  const rebooted = tried !== undefined && tried.bootId !== bootId
  // `latest` never equals a running version: after the boot it is taken for that
  if (version === 'latest' && rebooted)
    return { do: 'nothing', condition: verdict('True', 'Completed', 'the latest version runs') }
  if (rebooted)
    return { do: 'nothing', condition: verdict('False', 'Stopped', `the host has booted since, and ${version} does not run`) }
  if (spec?.reboot) return { do: 'reboot', unit: rebootUnit }
  return { do: 'nothing', condition: verdict('True', 'Completed', `${version} is installed and runs after the next boot`) }
}
