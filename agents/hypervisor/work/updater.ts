// Carries out what update.ts decides. One run at a time; what was tried is kept on the node, so that it goes on after a restart or a boot.
import type { Logger } from 'pino'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { Systemd } from '../host/systemd.ts'
import type { Known } from '../known.ts'
import type { Store } from './store.ts'
import { decideUpdate, tries, verdict, type UpdateView } from './update.ts'

interface Options {
  known: Known
  store: Store
  systemd: () => Systemd | undefined
  /** The OS facts are read again. */
  refresh: () => Promise<void>
  changed: () => void
  log: Logger
  signal: AbortSignal
}

export function updater({ known, store, systemd, refresh, changed, log, signal }: Options) {
  let busy = false

  function view(live: Hypervisor): UpdateView {
    const evicting = live.status?.conditions?.find(({ type }) => type === 'Evicting')
    const tried = store.read().update
    return {
      spec: live.spec,
      drained: evicting?.status === 'False' && evicting.reason === 'Succeeded',
      running: known.os?.version,
      bootId: known.bootId,
      status: known.update?.status ?? live.status?.updateStatus ?? { inProgress: false, installed: 'unknown', retry: tries },
      ...(tried && { tried })
    }
  }

  async function start(unit: string, version: string, seen: UpdateView): Promise<void> {
    known.update = { status: { ...seen.status, inProgress: true }, condition: verdict('True', 'Running', `${unit} runs`) }
    changed()
    const result = await (systemd() as Systemd).start(unit, signal)
    const ok = result === 'done'
    const retry = ok ? tries : seen.status.retry - 1
    log[ok ? 'info' : 'error']({ unit, result, retry }, 'the operating system update ended')
    const status = { inProgress: false, retry, installed: ok ? version : (seen.status.installed ?? 'unknown') }
    const condition = ok
      ? verdict('True', 'Completed', `${version} is installed`)
      : verdict('False', 'Stopped', `${unit}: ${result}; ${retry} tries left`)
    known.update = { status, condition }
    if (ok) await refresh()
  }

  async function advance(live: Hypervisor): Promise<void> {
    for (let again = true; again && !signal.aborted;) {
      const seen = view(live)
      const step = decideUpdate(seen)
      again = false
      if (step.do === 'nothing') {
        if (step.condition) known.update = { status: seen.status, condition: step.condition }
      } else if (step.do === 'wait') {
        known.update = { status: seen.status, condition: verdict('False', 'Stopped', step.reason) }
      } else if (step.do === 'begin') {
        await store.write({ update: { version: step.version, bootId: known.bootId } })
        known.update = { status: { inProgress: false, retry: tries, installed: seen.status.installed ?? 'unknown' } }
        again = true
      } else if (systemd() === undefined) {
        known.update = { status: seen.status, condition: verdict('False', 'Stopped', 'systemd cannot be reached') }
      } else if (step.do === 'start') {
        await start(step.unit, step.version, seen)
        again = true
      } else {
        log.warn({ unit: step.unit }, 'rebooting into the new version')
        await systemd()?.start(step.unit, signal)
      }
    }
    changed()
  }

  return (live: Hypervisor): void => {
    if (busy || known.os === undefined) return
    busy = true
    advance(live)
      .catch(err => {
        if (!signal.aborted) log.error({ err }, 'the operating system update was interrupted')
      })
      .finally(() => (busy = false))
  }
}
