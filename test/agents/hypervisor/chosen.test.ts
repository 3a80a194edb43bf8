// NA-15: which events are told, by libvirt's names
import type { DomainEvent } from 'node-libvirt'
import t from 'tap'
import { isChosen, parseChosen } from '../../../agents/hypervisor/chosen.ts'
import type { Fact } from '../../../agents/hypervisor/libvirt/fact.ts'

const event = (kind: string): Fact => ({ kind: 'event', epoch: 1, at: new Date(0), event: { kind } as DomainEvent })
const move = { epoch: 1, at: new Date(0), id: 'a', name: 'a', incoming: false, stats: {} }
const cases: Array<[fact: Fact, kind: string]> = [
  [event('lifecycle'), 'lifecycle'],
  [{ kind: 'snapshot', epoch: 1, domains: [] }, 'lifecycle'],
  [event('watchdog'), 'watchdog'],
  [event('io-error-reason'), 'io-error-reason'],
  [event('io-error-reason'), 'io-error'],
  [{ kind: 'moving', ...move }, 'migration-iteration'],
  [{ kind: 'moved', ...move, result: 'success' }, 'job-completed']
]
for (const [fact, kind] of cases) {
  const name = fact.kind === 'event' ? fact.event.kind : fact.kind
  t.ok(isChosen(parseChosen(kind).chosen, fact), `${name} by ${kind}`)
  t.notOk(isChosen(parseChosen('reboot').chosen, fact), `${name} not by reboot`)
}
t.ok(isChosen(new Set(), { kind: 'lost', epoch: 1, message: '' }), 'what is told of the host is not for choice')
