import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { HaView, HostDetail, MoveView } from '../../../shared/view/types.ts'
import { html } from './html.ts'
import { Cabling } from './network-page.ts'
import { Bar, Card, clockTime, Events, Parts, Table } from './parts.ts'
import { address, route } from './route.ts'
import { HostActions } from './sim.ts'
import { link, stirrings } from './state.ts'

const detail = signal<HostDetail | { missing: string } | undefined>(undefined)

async function load(name: string): Promise<void> {
  try {
    const response = await fetch(`/api/hosts/${encodeURIComponent(name)}`)
    const found = response.ok ? ((await response.json()) as HostDetail) : { missing: name }
    if (route.peek().host === name) detail.value = found
  } catch {
    link.value = 'lost' // the stream notices by itself and comes back, and then this is asked again
  }
}

const Move = ({ name, tone, word, line, percent }: MoveView): VNode =>
  html`<li class=${tone}>
    <div class="row"><span class="name">${name}</span><span class="word">${word}</span></div>
    ${percent !== undefined && html`<${Bar} percent=${percent} label=${`Move of ${name}`} />`}
    <small>${line}${percent !== undefined && ` · ${percent} %`}</small>
  </li>`

const Conditions = ({ list }: { list: HostDetail['conditions'] }): VNode =>
  html`<${Table} label="Conditions" head=${['Condition', 'State', 'Why', 'For']}>
    ${list.map(
      ({ type, means, tone, status, reason, sentence, since }) =>
        html`<tr key=${type} class=${tone}>
          <th scope="row">${type}<br /><small>${means}</small></th>
          <td class="word">${{ True: 'yes', False: 'no' }[status] ?? 'not known'} · ${reason}</td>
          <td>${sentence}</td>
          <td>${since}</td>
        </tr>`
    )}
  <//>`

const Waiting = ({ list }: { list: HostDetail['waiting'] }): VNode =>
  html`<ul class="plain">
    ${list.map(
      ({ who, what, since }) =>
        html`<li key=${who} class="busy">
          <span class="word">${what}</span>
          <div><small>${who}${since && ` · since ${clockTime(since)}`}</small></div>
        </li>`
    )}
  </ul>`

const HighAvailability = ({ tone, word, lines, signals, gates, incidents, history }: HaView): VNode =>
  html`<${Card} title="High availability">
    <p class=${tone}><span class="word">${word}</span></p>
    ${lines.map(line => html`<p key=${line}>${line}</p>`)} ${signals.length > 0 && html`<h4>Signs</h4>`}
    <${Parts}
      list=${signals.map(({ since, ...sign }) => ({ ...sign, line: since ? `${sign.line} · for ${since}` : sign.line }))}
    />
    ${incidents.length > 0 && html`<h4>VMs</h4>`}<${Parts} list=${incidents} />
    ${gates.length > 0 && html`<h4>Gates</h4>`}<${Parts} list=${gates} />
    ${
      history.length > 0 &&
      html`<h4>What was decided</h4>
        <${Events} list=${history} empty="" own=${history[0]?.about} />`
    }
  <//>`

const Facts = ({ list }: { list: HostDetail['facts'] }): VNode =>
  html`<${Card} title="Facts">
    <dl>
      ${list.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`
      )}
    </dl>
  <//>`

function Found({ host, story, facts, conditions, waiting, drift, moves, instances, network, ha, timeline }: HostDetail): VNode {
  const { drain } = host
  return html`<main class="split">
    <div>
      <p><a href=${address({})}>← Fleet</a></p>
      <h1 class=${host.tone}>${host.name} <span class="word">${host.word}</span></h1>
      ${drain && html`<div class=${drain.tone}><${Bar} percent=${drain.percent} label=${`Drain of ${host.name}`} /></div>`}
      ${story.map(line => html`<p key=${line}>${line}</p>`)}
      <p><code>drover describe ${host.name}</code></p>
      <${Card} title="Awaited" when=${waiting.length > 0}><${Waiting} list=${waiting} /><//>
      <${Card} title="Moves" when=${moves.length > 0}
        ><ul class="plain">
          ${moves.map(move => html`<${Move} key=${move.id} ...${move} />`)}
        </ul><//
      >
      <${Card} title="Conditions" when=${conditions.length > 0}><${Conditions} list=${conditions} /><//>
      ${ha && html`<${HighAvailability} ...${ha} />`}
      <${Card} title="Drift" when=${drift.length > 0}
        ><ul>
          ${drift.map(line => html`<li key=${line}>${line}</li>`)}
        </ul><//
      >
      <${Card} title=${`VMs (${instances.length})`} when=${instances.length > 0}>
        <ul class="columns">
          ${instances.map(({ id, name, word }) => html`<li key=${id}>${name} <small>${word}</small></li>`)}
        </ul>
      <//>
    </div>
    <aside aria-label="More of this host">
      <${HostActions} host=${host.name} vms=${instances.map(({ name }) => name)} />
      ${network && html`<${Card} title="Network"><${Cabling} ...${network} /><//>`}
      <${Facts} list=${facts} />
      <${Card} title="Timeline"><${Events} list=${timeline} empty="Nothing was recorded yet." own=${host.name} /><//>
    </aside>
  </main>`
}

export function HostPage(): VNode {
  const name = route.value.host
  const stirred = stirrings.value.get(name)
  useEffect(() => void load(name), [name, stirred])
  const found = detail.value
  if (found && 'missing' in found && found.missing === name)
    return html`<main>
      <p>There is no host ${name}. <a href=${address({})}>All hosts</a></p>
    </main>`
  if (!found || 'missing' in found || found.host.name !== name) return html`<main><p class="dim">Loading ${name} …</p></main>`
  return html`<${Found} ...${found} />`
}
