// The view is in the address, so that it can be kept, sent to a colleague and gone back to.
import { signal } from '@preact/signals'

const pages = ['fleet', 'network', 'machines', 'events', 'letters'] as const
export interface Route {
  page: (typeof pages)[number] | 'host'
  host: string
  search: string
  filter: string
}

function read(): Route {
  const [path = '', query = ''] = location.hash.slice(1).split('?', 2)
  const [, first = '', second = ''] = path.split('/')
  const given = new URLSearchParams(query)
  const page = first === 'hosts' ? 'host' : (pages.find(known => known === first) ?? 'fleet')
  return { page, host: decoded(second), search: given.get('q') ?? '', filter: given.get('show') ?? '' }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // an address that somebody typed
  }
}

export const route = signal(read())
addEventListener('hashchange', () => {
  const before = route.peek()
  route.value = read()
  if (before.page !== route.peek().page || before.host !== route.peek().host) scrollTo(0, 0)
})

export function address({ page, host, search, filter }: Partial<Route>): string {
  const path = page === 'host' ? `/hosts/${encodeURIComponent(host ?? '')}` : page === 'fleet' || !page ? '/' : `/${page}`
  const query = new URLSearchParams({ ...(search && { q: search }), ...(filter && { show: filter }) }).toString()
  return `#${path}${query && `?${query}`}`
}

/** Changes the view without a new entry in the history: for typing. */
export function refine(change: Partial<Route>): void {
  history.replaceState(null, '', address({ ...route.peek(), ...change }))
  route.value = read()
}

/** The words that are searched for, in lower case. */
export const wordsSought = (): string[] => route.value.search.toLowerCase().split(/\s+/).filter(Boolean)
