import { render, type VNode } from 'preact'
import { FleetPage, Filters } from './fleet-page.ts'
import { HostPage } from './host-page.ts'
import { html } from './html.ts'
import { Events } from './parts.ts'
import { address, refine, route, type Route } from './route.ts'
import { allHosts, connect, happenings, lastChange, link, machines, now, title } from './state.ts'

function Live(): VNode {
  const vms = allHosts.value.reduce((sum, host) => sum + host.vms, 0)
  const seconds = Math.max(0, Math.round((now.value - lastChange.value) / 1000))
  const text = {
    connecting: 'connecting …',
    lost: 'connection lost, trying again',
    live: `live · ${vms} VMs · last change ${seconds < 2 ? 'now' : `${seconds} s ago`}`
  }[link.value]
  return html`<span class=${`live ${link.value}`} role="status"><i></i>${text}</span>`
}

const Tab = ({ page, label }: { page: Route['page']; label: string }): VNode =>
  html`<a class="tab" href=${address({ page })} aria-current=${route.value.page === page ? 'page' : undefined}>${label}</a>`

const Header = (): VNode =>
  html`<header>
    <a class="brand" href=${address({})}>Drover</a><span class="dim">${title.value}</span>
    <nav aria-label="Views">
      <${Tab} page="fleet" label="Fleet" /><${Tab} page="machines" label="Machines" /><${Tab} page="events" label="Events" />
    </nav>
    <input
      id="search"
      type="search"
      placeholder="Host, VM or label  ( / )"
      aria-label="Search hosts, VMs and labels"
      value=${route.value.search}
      onInput=${(event: InputEvent) => refine({ page: 'fleet', search: (event.target as HTMLInputElement).value })}
    />
    ${route.value.page === 'fleet' && html`<${Filters} />`}
    <${Live} />
  </header>`

function MachinesPage(): VNode {
  const list = [...machines.value.values()].sort((a, b) => a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name))
  return html`<main>
    <h1>Machines</h1>
    ${
      list.length === 0
        ? html`<p class="dim">There are no Machines. <code>kubectl apply -f machine.yaml</code> makes one.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Machines">
            <table>
              <thead>
                <tr>
                  <th scope="col">Machine</th>
                  <th scope="col">Phase</th>
                  <th scope="col">Why</th>
                  <th scope="col">Node</th>
                  <th scope="col">Addresses</th>
                </tr>
              </thead>
              <tbody>
                ${list.map(
                  ({ namespace, name, tone, word, line, node, ips }) =>
                    html`<tr key=${`${namespace}/${name}`} class=${tone}>
                      <th scope="row">${namespace}/${name}</th>
                      <td class="word">${word}</td>
                      <td>${line}</td>
                      <td>${node}</td>
                      <td>${ips.join(', ')}</td>
                    </tr>`
                )}
              </tbody>
            </table>
          </div>`
    }
  </main>`
}

const EventsPage = (): VNode =>
  html`<main>
    <h1>Events</h1>
    <${Events} list=${happenings.value} empty="Nothing happened since this server started." />
  </main>`

const pages = { fleet: FleetPage, host: HostPage, machines: MachinesPage, events: EventsPage }
const App = (): VNode => html`<${Header} /><${pages[route.value.page]} />`

addEventListener('keydown', event => {
  const search = document.getElementById('search') as HTMLInputElement | null
  if (event.key === '/' && document.activeElement !== search) {
    event.preventDefault()
    search?.focus()
  }
  if (event.key !== 'Escape') return
  if (document.activeElement === search) search?.blur()
  else if (route.peek().page === 'host') location.hash = address({})
  else refine({ search: '', filter: '' })
})

connect()
render(html`<${App} />`, document.body)
