import type { Machine } from '../schema/machine.ts'
import type { MachineView, Tone } from './types.ts'

const tones: Record<string, Tone> = { Pending: 'rest', Creating: 'busy', Running: 'ok', Stopped: 'rest', Failed: 'bad' }

export function machineView({ metadata, status }: Machine): MachineView {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const phase = status?.phase ?? 'Pending'
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    tone: tones[phase] ?? 'warn',
    word: phase,
    line: ready?.status === 'True' ? '' : [ready?.reason, ready?.message].filter(Boolean).join(': '),
    node: status?.nodeName ?? '',
    ips: status?.ipAddresses ?? []
  }
}
