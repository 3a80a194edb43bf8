// Buttons for the simulated fleet of `npm start`. A real cluster offers none, and they are not there.
import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Done, ShownAction } from '../../../shared/runtime/simulator.ts'
import { html } from './html.ts'
import { Card } from './parts.ts'

const actions = signal<readonly ShownAction[]>([])
const outcome = signal<{ tone: 'ok' | 'bad'; text: string } | undefined>(undefined)
const chosen = signal('')

/** Asked again while the fleet comes up or the server is away; where nothing is simulated the answer is an empty list. */
export async function findActions(): Promise<void> {
  const response = await fetch('/api/sim/actions').catch(() => undefined)
  if (response?.ok) actions.value = ((await response.json()) as { actions: ShownAction[] }).actions
  else setTimeout(() => void findActions(), 2000)
}

async function act(name: string, args: object): Promise<void> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(args) }
  try {
    const done = (await (await fetch(`/api/sim/actions/${name}`, request)).json()) as Done
    outcome.value = done.did === undefined ? { tone: 'bad', text: done.error ?? 'failed' } : { tone: 'ok', text: done.did }
  } catch {
    outcome.value = { tone: 'bad', text: 'the server does not answer' }
  }
}

const spoken = (name: string): string => name.replaceAll('-', ' ')

const Button = ({ action, value }: { action: ShownAction; value: string | undefined }): VNode => {
  const [first] = action.args
  const args = first && value !== undefined ? { [first.name]: value } : {}
  return html`<button class="chip" title=${action.does} onClick=${() => void act(action.name, args)}>
    ${spoken(action.name)}
  </button>`
}

const Buttons = ({ about, value }: { about: ShownAction['about'][]; value?: string }): VNode =>
  html`<div class="chips">
    ${actions.value
      .filter(action => about.includes(action.about))
      .map(action => html`<${Button} key=${action.name} action=${action} value=${value} />`)}
  </div>`

const Outcome = (): VNode =>
  html`<p role="status" class=${outcome.value?.tone}><span class="word">${outcome.value?.text ?? ''}</span></p>`

/** What can be done to one host and its VMs. */
export function HostActions({ host, vms }: { host: string; vms: readonly string[] }): VNode | null {
  if (actions.value.length === 0) return null
  const vm = vms.includes(chosen.value) ? chosen.value : vms[0]
  return html`<${Card} title="Do something to it (simulated)">
    <${Buttons} about=${['host']} value=${host} />
    ${
      vm !== undefined &&
      html`<p>
          <label
            >VM
            <select value=${vm} onChange=${(event: Event) => (chosen.value = (event.target as HTMLSelectElement).value)}>
              ${vms.map(name => html`<option key=${name} value=${name}>${name}</option>`)}
            </select></label
          >
        </p>
        <${Buttons} about=${['vm']} value=${vm} />`
    }
    <${Outcome} />
  <//>`
}

export function FleetActions({ zones }: { zones: readonly string[] }): VNode | null {
  if (actions.value.length === 0) return null
  const zone = zones.includes(chosen.value) ? chosen.value : zones[0]
  return html`<${Card} title="Do something to it (simulated)">
    <${Buttons} about=${['cloud', 'fleet']} />
    ${
      zone !== undefined &&
      html`<p>
          <label
            >Zone
            <select value=${zone} onChange=${(event: Event) => (chosen.value = (event.target as HTMLSelectElement).value)}>
              ${zones.map(name => html`<option key=${name} value=${name}>${name}</option>`)}
            </select></label
          >
        </p>
        <${Buttons} about=${['zone']} value=${zone} />`
    }
    <p class="dim">Open a host to pull its cables and crash its VMs.</p>
    <${Outcome} />
  <//>`
}
