// What happened, told from the difference of two states of an object: nothing has to be sent for it, so that nothing can be lost.
import type { Eviction } from '../schema/eviction.ts'
import { plural } from './time.ts'
import type { Happening, HostView, Tone } from './types.ts'

const happening = (time: string, tone: Tone, about: string, text: string): Happening => ({
  id: `${time}/${about}/${text}`,
  time,
  tone,
  about,
  text
})

export function hostHappenings(before: HostView | undefined, after: HostView, now: Date): Happening[] {
  if (!before) return []
  const time = now.toISOString()
  const told: Happening[] = []
  if (before.word !== after.word) told.push(happening(time, after.tone, after.name, `${before.word} → ${after.word}`))
  if (before.network.line !== after.network.line)
    told.push(happening(time, after.network.tone, after.name, `network: ${after.network.line || 'healthy again'}`))
  if (before.vms !== after.vms && !after.drain)
    told.push(happening(time, 'rest', after.name, `${plural(after.vms, 'VM')}, was ${before.vms}`))
  return told
}

export function drainHappenings(before: Eviction | undefined, after: Eviction, now: Date): Happening[] {
  const host = after.spec?.hypervisor ?? ''
  const time = now.toISOString()
  if (!before) return [happening(time, 'busy', host, `drain asked for: ${after.spec?.reason ?? ''}`)]
  const known = new Map(before.status?.instances?.map(instance => [instance.id, instance.state]))
  const moved = (after.status?.instances ?? []).flatMap(({ id, name = id, state, destination, reason, message }) => {
    if (known.get(id) === state) return []
    if (state === 'Migrating') return [happening(time, 'busy', host, `${name} moves${destination ? ` to ${destination}` : ''}`)]
    if (state === 'Done') return [happening(time, 'ok', host, `${name} moved${destination ? ` to ${destination}` : ''}`)]
    if (state === 'Blocked' || state === 'Failed')
      return [happening(time, 'bad', host, `${name} cannot move: ${message ?? reason ?? state}`)]
    return []
  })
  const { verdict } = after.status ?? {}
  const ended = verdict !== undefined && before.status?.verdict !== verdict
  return ended ? [...moved, happening(time, verdict === 'Succeeded' ? 'ok' : 'bad', host, `drain ended: ${verdict}`)] : moved
}
