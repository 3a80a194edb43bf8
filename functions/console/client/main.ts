import { render, type VNode } from 'preact'
import { FleetPage, Filters } from './fleet-page.ts'
import { HostPage } from './host-page.ts'
import { html } from './html.ts'
import { EventsPage, LettersPage, MachinesPage } from './lists.ts'
import { NetworkPage } from './network-page.ts'
import { address, refine, route, type Route } from './route.ts'
import { findActions } from './sim.ts'
import { allHosts, connect, lastChange, letters, link, now, title } from './state.ts'

function Live(): VNode {
  const vms = allHosts.value.reduce((sum, host) => sum + host.vms, 0)
  const seconds = Math.max(0, Math.round((now.value - lastChange.value) / 1000))
  const text = {
    connecting: 'connecting …',
    lost: 'connection lost, trying again',
    live: `live · ${vms} VMs · last change ${seconds < 2 ? 'now' : `${seconds} s ago`}`
  }[link.value]
  return html`<span class=${`live ${link.value}`}><i></i>${text}</span>`
}

/** Said aloud when the link changes, and only then: the line above changes every second. */
const Spoken = (): VNode =>
  html`<span class="hidden" role="status">${link.value === 'lost' ? 'connection lost' : 'connected'}</span>`

const Tab = ({ page, label, count = 0 }: { page: Route['page']; label: string; count?: number }): VNode =>
  html`<a class="tab" href=${address({ page })} aria-current=${route.value.page === page ? 'page' : undefined}
    >${label}${count > 0 && html`${' '}<b class="count bad">${count}</b>`}</a
  >`

const Header = (): VNode =>
  html`<header>
    <a class="brand" href=${address({})}>Drover</a><span class="dim">${title.value}</span>
    <nav aria-label="Views">
      <${Tab} page="fleet" label="Fleet" /><${Tab} page="network" label="Network" /><${Tab} page="machines" label="Machines" />
      <${Tab} page="events" label="Events" /><${Tab} page="letters" label="Dead letters" count=${letters.value.length} />
    </nav>
    <input
      id="search"
      type="search"
      placeholder="Host, VM or label  ( / )"
      aria-label="Search hosts, VMs and labels"
      value=${route.value.search}
      onInput=${(event: InputEvent) =>
        refine({
          search: (event.target as HTMLInputElement).value,
          ...(route.peek().page === 'host' && { page: 'fleet' as const })
        })}
    />
    ${route.value.page === 'fleet' && html`<${Filters} />`}
    <${Live} /><${Spoken} />
  </header>`

const pages = {
  fleet: FleetPage,
  host: HostPage,
  network: NetworkPage,
  machines: MachinesPage,
  events: EventsPage,
  letters: LettersPage
}
const App = (): VNode => html`<${Header} /><${pages[route.value.page]} />`

addEventListener('keydown', event => {
  const search = document.getElementById('search') as HTMLInputElement | null
  const typing = document.activeElement instanceof HTMLInputElement || document.activeElement instanceof HTMLSelectElement
  if (event.key === '/' && !typing) {
    event.preventDefault()
    search?.focus()
  }
  if (event.key !== 'Escape') return
  if (document.activeElement === search) search?.blur()
  else if (route.peek().page === 'host') location.hash = address({})
  else refine({ search: '', filter: '' })
})

connect()
void findActions()
render(html`<${App} />`, document.body)
