// Bonds and bridges of every host, what is wrong first.
import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { BondView, BridgeView, NetworkView, Part } from '../../../shared/view/types.ts'
import { html } from './html.ts'
import { HostLink } from './parts.ts'
import { wordsSought } from './route.ts'
import { lastChange } from './state.ts'

const networks = signal<readonly NetworkView[] | undefined>(undefined)
const rank = { bad: 0, warn: 1, busy: 2, rest: 3, ok: 4 }
const shownAtOnce = 60

async function load(): Promise<void> {
  const response = await fetch('/api/networks').catch(() => undefined) // the stream says when the server is away
  if (response?.ok) networks.value = (await response.json()) as NetworkView[]
}

const Piece = ({ name, tone, line }: Part): VNode =>
  html`<span class=${`piece ${tone}`}><b>${name}</b> <span class="word">${line}</span></span>`

const Bond = (bond: BondView): VNode =>
  html`<li>
    <${Piece} ...${bond} />
    <ul class="tree">
      ${bond.links.map(link => html`<li key=${link.name}><${Piece} ...${link} /></li>`)}
    </ul>
  </li>`

const Bridge = (bridge: BridgeView): VNode =>
  html`<li>
    <${Piece} ...${bridge} />
    ${
      bridge.bonds.length > 0 &&
      html`<ul class="tree">
        ${bridge.bonds.map(bond => html`<${Bond} key=${bond.name} ...${bond} />`)}
      </ul>`
    }
  </li>`

/** From the bridge down to the cables. */
export const Cabling = ({ bridges, bonds, ovn, issues }: NetworkView): VNode =>
  html`<ul class="tree">
      ${bridges.map(bridge => html`<${Bridge} key=${bridge.name} ...${bridge} />`)}
      ${bonds.map(bond => html`<${Bond} key=${bond.name} ...${bond} />`)} ${ovn && html`<li><${Piece} ...${ovn} /></li>`}
    </ul>
    ${issues.map(({ tone, line }) => html`<p key=${line} class=${tone}><span class="word">${line}</span></p>`)}`

export function NetworkPage(): VNode {
  const second = Math.floor(lastChange.value / 1000)
  useEffect(() => void load(), [second])
  const words = wordsSought()
  const all = networks.value
  const fitting = (all ?? []).filter(one => words.every(word => JSON.stringify(one).toLowerCase().includes(word)))
  const list = fitting.toSorted(
    (a, b) => rank[a.tone] - rank[b.tone] || a.host.localeCompare(b.host, undefined, { numeric: true })
  )
  const ill = list.filter(({ tone }) => tone !== 'ok').length
  return html`<main>
    <h1>Network</h1>
    <p class="dim">
      ${
        all === undefined
          ? 'Loading …'
          : all.length === 0
            ? 'No OVS agent has told anything yet.'
            : `${list.length} of ${all.length} hosts, ${ill === 0 ? 'all of them healthy' : `${ill} with trouble, shown first`}.`
      }
    </p>
    <div class="cards">
      ${list.slice(0, shownAtOnce).map(
        network =>
          html`<section key=${network.host} class=${network.tone}>
            <div class="row"><${HostLink} name=${network.host} /><span class="word">${network.line}</span></div>
            <${Cabling} ...${network} />
          </section>`
      )}
    </div>
    ${list.length > shownAtOnce && html`<p class="dim">and ${list.length - shownAtOnce} more: search for a host.</p>`}
  </main>`
}
