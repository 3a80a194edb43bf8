import type { Signal } from '@preact/signals'
import type { VNode } from 'preact'
import type { DrainView, HostView } from '../../../shared/view/types.ts'
import { html } from './html.ts'
import { Bar, Card, Events, HostLink } from './parts.ts'
import { address, refine, route, wordsSought } from './route.ts'
import { FleetActions } from './sim.ts'
import { allHosts, happenings, hosts } from './state.ts'

export const filters: Array<[name: string, label: string, takes: (host: HostView) => boolean]> = [
  ['', 'All', () => true],
  ['ready', 'Ready', ({ tone }) => tone === 'ok'],
  ['busy', 'Under way', ({ tone }) => tone === 'busy'],
  ['rest', 'Maintenance', ({ tone }) => tone === 'rest'],
  ['degraded', 'Degraded', ({ tone, network }) => tone === 'warn' || network.tone !== 'ok'],
  ['person', 'Needs a person', ({ needsPerson }) => needsPerson !== undefined]
]

export const Filters = (): VNode =>
  html`<div class="chips" role="group" aria-label="Show">
    ${filters.map(
      ([name, label, takes]) =>
        html`<button
          class="chip"
          key=${name}
          aria-pressed=${route.value.filter === name}
          onClick=${() => refine({ page: 'fleet', filter: name })}
        >
          ${label} ${allHosts.value.filter(takes).length}
        </button>`
    )}
  </div>`

function Tile({ host }: { host: Signal<HostView> }): VNode {
  const { name, tone, word, line, percent, network } = host.value
  return html`<li>
    <a class=${`host ${tone}`} href=${address({ page: 'host', host: name })} title=${line}>
      <span class="row"><span class="name">${name}</span><span class="word">${word}</span></span>
      <span class="line">${network.tone !== 'ok' && html`<i class=${`net ${network.tone}`} title="network"></i>`}${line}</span>
      <${Bar} percent=${percent} label=${`${name}: ${word}, ${percent} %`} />
    </a>
  </li>`
}

function shown(): Map<string, Array<Signal<HostView>>> {
  const { filter } = route.value
  const words = wordsSought()
  const takes = filters.find(([name]) => name === filter)?.[2] ?? (() => true)
  const groups = new Map<string, Array<Signal<HostView>>>()
  for (const host of hosts.value.values()) {
    const view = filter || words.length > 0 ? host.value : host.peek() // unfiltered, a change of one host moves no other
    if (!takes(view) || !words.every(word => view.find.includes(word))) continue
    const place = [view.zone, view.block].filter(Boolean).join(' · ')
    const members = groups.get(place)
    if (members) members.push(host)
    else groups.set(place, [host])
  }
  return new Map([...groups].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true })))
}

function Groups(): VNode {
  const groups = shown()
  if (groups.size === 0)
    return html`<p class="dim">
      ${
        hosts.value.size === 0
          ? 'No hosts yet. A Node with the label nova.openstack.cloud.sap/virt-driver becomes one.'
          : 'No host fits. Clear the search or choose All.'
      }
    </p>`
  const shownHosts = [...groups.values()].reduce((sum, members) => sum + members.length, 0)
  const dense = shownHosts > 150
  const room = dense ? 138 : 210
  return html`<div class=${dense ? 'groups dense' : 'groups'}>
    ${[...groups].map(
      ([place, members]) =>
        html`<section
          key=${place}
          aria-label=${place}
          style=${{ flex: `${members.length} 1 min(100%, ${members.length * room}px)` }}
        >
          <h2>${place} <span>· ${members.length === 1 ? '1 host' : `${members.length} hosts`}</span></h2>
          <ul class="hosts">
            ${members.map(host => html`<${Tile} key=${host.peek().name} host=${host} />`)}
          </ul>
        </section>`
    )}
  </div>`
}

const Job = ({ host, tone, word, percent, line }: DrainView): VNode =>
  html`<div class=${`job ${tone}`}>
    <div class="row"><${HostLink} name=${host}>Drain ${host}<//><span class="word">${word}</span></div>
    <${Bar} percent=${percent} label=${`Drain of ${host}`} />
    <small>${line}</small>
  </div>`

const shownAtOnce = 8
/** `filter`: what shows all of them as tiles. */
const More = ({ count, filter }: { count: number; filter: string }): VNode | null =>
  count > shownAtOnce
    ? html`<p><a class="dim" href=${address({ page: 'fleet', filter })}>and ${count - shownAtOnce} more</a></p>`
    : null

function Attention(): VNode {
  const list = allHosts.value.filter(({ needsPerson }) => needsPerson !== undefined)
  return html`<section class="urgent" aria-live="polite">
    <h3>Needs a person</h3>
    ${list.length === 0 && html`<p class="dim">Nobody is needed.</p>`}
    ${list.slice(0, shownAtOnce).map(
      ({ name, tone, word, needsPerson }) =>
        html`<div class=${`job ${tone}`} key=${name}>
          <div class="row"><${HostLink} name=${name} /><span class="word">${word}</span></div>
          <small>${needsPerson}</small>
          <div><code>drover describe ${name}</code></div>
        </div>`
    )}
    <${More} count=${list.length} filter="person" />
  </section>`
}

function UnderWay(): VNode {
  const drains = allHosts.value.flatMap(({ drain }) => (drain ? [drain] : []))
  const networks = allHosts.value.filter(({ network }) => network.tone !== 'ok')
  return html`<${Card} title="Under way" kind="urgent">
    ${drains.length + networks.length === 0 && html`<p class="dim">Nothing moves.</p>`}
    ${drains.slice(0, shownAtOnce).map(drain => html`<${Job} key=${drain.eviction} ...${drain} />`)}
    <${More} count=${drains.length} filter="busy" />
    ${networks.slice(0, shownAtOnce).map(
      ({ name, network }) =>
        html`<div class=${`job ${network.tone}`} key=${`net-${name}`}>
          <div class="row"><${HostLink} name=${name}>${name} network<//><span class="word">degraded</span></div>
          <small>${network.why ?? network.line}</small>
        </div>`
    )}
    <${More} count=${networks.length} filter="degraded" />
  <//>`
}

const zonesOf = (): string[] => [...new Set(allHosts.value.map(({ zone }) => zone))].toSorted()

export const FleetPage = (): VNode =>
  html`<main class="split">
    <div>
      <h1 class="hidden">Fleet</h1>
      <${Groups} />
    </div>
    <aside aria-label="What goes on">
      <${Attention} /><${UnderWay} />
      <${Card} title="Events"
        ><${Events} list=${happenings.value.slice(0, 12)} empty="Nothing was told within the last hour."
      /><//>
      <${FleetActions} zones=${zonesOf()} />
    </aside>
  </main>`
