// What the page knows: one signal for each host, so that a change redraws its tile and nothing else.
import { batch, computed, signal, type Signal } from '@preact/signals'
import type { Happening, HostView, LetterView, MachineView, Update } from '../../../shared/view/types.ts'

export const title = signal('')
/** `connecting` until the first answer, `lost` while the server is away. */
export const link = signal<'connecting' | 'live' | 'lost'>('connecting')
export const hosts = signal<ReadonlyMap<string, Signal<HostView>>>(new Map())
export const machines = signal<ReadonlyMap<string, MachineView>>(new Map())
export const happenings = signal<readonly Happening[]>([])
export const letters = signal<readonly LetterView[]>([])
/** Counts up whenever something of that host changed, also what its tile does not show. */
export const stirrings = signal<ReadonlyMap<string, number>>(new Map())
export const lastChange = signal(0)
export const now = signal(Date.now())

export const allHosts = computed(() => [...hosts.value.values()].map(host => host.value))

const keptHappenings = 200

function takeHosts({ whole, hosts: told, gone }: Update): void {
  const known = hosts.peek()
  const next = new Map(whole ? [] : known)
  let membership = whole === true
  for (const view of told) {
    const held = known.get(view.name)
    if (held) held.value = view
    if (!next.has(view.name)) {
      next.set(view.name, held ?? signal(view))
      membership = true
    }
  }
  for (const name of gone.hosts) membership = next.delete(name) || membership
  if (membership) hosts.value = new Map([...next].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true })))
}

function takeMachines({ whole, machines: told, gone }: Update): void {
  if (!whole && told.length === 0 && gone.machines.length === 0) return
  const next = new Map(whole ? [] : machines.peek())
  for (const machine of told) next.set(`${machine.namespace}/${machine.name}`, machine)
  for (const key of gone.machines) next.delete(key)
  machines.value = next
}

/** One that is told again takes the place of its earlier self. */
function newestOf(fresh: readonly Happening[], known: readonly Happening[]): Happening[] {
  const ids = new Set(fresh.map(({ id }) => id))
  return [...fresh, ...known.filter(({ id }) => !ids.has(id))]
    .sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0))
    .slice(0, keptHappenings)
}

function takeStirred({ whole, stirred, hosts: told }: Update): void {
  const names = whole ? told.map(({ name }) => name) : stirred
  if (names.length === 0) return
  const next = new Map(stirrings.peek())
  for (const name of names) next.set(name, (next.get(name) ?? 0) + 1)
  stirrings.value = next
}

function take(update: Update): void {
  batch(() => {
    title.value = update.title
    link.value = 'live'
    lastChange.value = Date.now()
    takeHosts(update)
    takeMachines(update)
    if (update.letters) letters.value = update.letters
    takeStirred(update)
    const older = update.whole ? [] : happenings.peek()
    if (update.whole || update.happenings.length > 0) happenings.value = newestOf(update.happenings, older)
  })
}

/** The browser comes back by itself after a lost connection, and then everything is told anew. */
export function connect(): void {
  const source = new EventSource('/api/stream')
  source.addEventListener('message', ({ data }) => take(JSON.parse(String(data)) as Update))
  source.addEventListener('error', () => {
    link.value = 'lost'
    if (source.readyState === EventSource.CLOSED) {
      source.close()
      setTimeout(connect, 2000)
    }
  })
}

setInterval(() => {
  now.value = Date.now()
}, 1000)
