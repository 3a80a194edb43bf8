import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { HostDetail, MoveView } from '../../../shared/view/types.ts'
import { html } from './html.ts'
import { Bar, Events } from './parts.ts'
import { address, route } from './route.ts'
import { hosts, lastChange, link } from './state.ts'

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
    <small>${line}</small>
  </li>`

const Named = ({ list }: { list: Array<{ name: string; tone: string; line: string }> }): VNode =>
  html`<ul class="plain">
    ${list.map(
      ({ name, tone, line }) =>
        html`<li key=${name} class=${tone}>
          <span class="row"><b>${name}</b><span class="word">${line}</span></span>
        </li>`
    )}
  </ul>`

function Card({ title, when, children }: { title: string; when: boolean; children?: unknown }): VNode | null {
  return when
    ? html`<section>
        <h3>${title}</h3>
        ${children}
      </section>`
    : null
}

const Conditions = ({ list }: { list: HostDetail['conditions'] }): VNode =>
  html`<table>
    <thead>
      <tr>
        <th scope="col">Condition</th>
        <th scope="col">State</th>
        <th scope="col">Why</th>
        <th scope="col">For</th>
      </tr>
    </thead>
    <tbody>
      ${list.map(
        ({ type, tone, status, reason, sentence, since }) =>
          html`<tr key=${type} class=${tone}>
            <th scope="row">${type}</th>
            <td class="word">${status} ${reason}</td>
            <td>${sentence}</td>
            <td>${since}</td>
          </tr>`
      )}
    </tbody>
  </table>`

function Found({ host, story, facts, conditions, drift, moves, instances, bonds, bridges, timeline }: HostDetail): VNode {
  return html`<main class="split">
    <div>
      <p><a href=${address({})}>← Fleet</a></p>
      <h1 class=${host.tone}>${host.name} <span class="word">${host.word}</span></h1>
      ${story.map(line => html`<p key=${line}>${line}</p>`)}
      <${Card} title="Moves" when=${moves.length > 0}
        ><ul class="plain">
          ${moves.map(move => html`<${Move} key=${move.id} ...${move} />`)}
        </ul><//
      >
      <${Card} title="Conditions" when=${conditions.length > 0}><${Conditions} list=${conditions} /><//>
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
    <aside aria-label="Facts">
      <section>
        <h3>Facts</h3>
        <dl>
          ${facts.map(
            ([name, value]) =>
              html`<dt>${name}</dt>
                <dd>${value}</dd>`
          )}
        </dl>
      </section>
      <${Card} title="Bonds" when=${bonds.length > 0}><${Named} list=${bonds} /><//>
      <${Card} title="Bridges" when=${bridges.length > 0}><${Named} list=${bridges} /><//>
      <section>
        <h3>Timeline</h3>
        <${Events} list=${timeline} empty="Nothing was recorded yet." />
      </section>
    </aside>
  </main>`
}

export function HostPage(): VNode {
  const name = route.value.host
  const view = hosts.value.get(name)?.value
  useEffect(() => void load(name), [name, view, lastChange.value])
  const found = detail.value
  if (found && 'missing' in found && found.missing === name)
    return html`<main>
      <p>There is no host ${name}. <a href=${address({})}>All hosts</a></p>
    </main>`
  if (!found || 'missing' in found || found.host.name !== name) return html`<main><p class="dim">Loading ${name} …</p></main>`
  return html`<${Found} ...${found} />`
}
