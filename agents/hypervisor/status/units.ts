// Unit states as conditions (NA-16). Pure.
import type { Unit } from '../host/systemd.ts'
import type { Verdict } from '../known.ts'

const states: Readonly<Record<string, Pick<Verdict, 'status' | 'reason'>>> = {
  active: { status: 'True', reason: 'Running' },
  inactive: { status: 'False', reason: 'Stopped' },
  failed: { status: 'False', reason: 'Failed' },
  activating: { status: 'Unknown', reason: 'Activating' },
  reloading: { status: 'Unknown', reason: 'Reloading' },
  deactivating: { status: 'Unknown', reason: 'Deactivating' }
}

const camel = (word: string): string =>
  word.replaceAll(/(?:^|[^a-zA-Z]+)([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase())

export function unitVerdicts(units: readonly Unit[]): Verdict[] {
  return units.map(({ name, load, active }) => {
    const missing = load === 'not-found' && active === 'inactive'
    const state = missing ? { status: 'Unknown' as const, reason: 'NotFound' } : states[active]
    const { status, reason } = state ?? { status: 'Unknown' as const, reason: camel(active) || 'Unknown' }
    return { type: name, status, reason, message: missing ? `systemd knows no ${name}` : `the unit is ${active}` }
  })
}
