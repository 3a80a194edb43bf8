import type { VNode } from 'preact'
import type { Happening, Part } from '../../../shared/view/types.ts'
import { html } from './html.ts'
import { address } from './route.ts'
import { hosts } from './state.ts'

export const Bar = ({ percent, label }: { percent: number; label: string }): VNode =>
  html`<div
    class="bar"
    role="progressbar"
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${percent}
    aria-label=${label}
    style=${{ backgroundSize: `${percent}% 100%` }}
  ></div>`

/** Made once: to find out what is usual here takes a tenth of a millisecond. */
const clockFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hour12: false })

export function clockTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return ''
  const clock = clockFormat.format(date)
  return date.toDateString() === new Date().toDateString() ? clock : `${date.toLocaleDateString()} ${clock}`
}

interface CardProps {
  title: string
  when?: boolean
  kind?: string
  children?: unknown
}
export const Card = ({ title, when = true, kind, children }: CardProps): VNode | null =>
  when
    ? html`<section class=${kind}>
        <h3>${title}</h3>
        ${children}
      </section>`
    : null

export const HostLink = ({ name, children }: { name: string; children?: unknown }): VNode =>
  html`<a class="name" href=${address({ page: 'host', host: name })}>${children ?? name}</a>`

export const Parts = ({ list }: { list: readonly Part[] }): VNode =>
  html`<ul class="plain">
    ${list.map(
      ({ name, tone, line }) =>
        html`<li key=${name} class=${tone}>
          <span class="row"><b>${name}</b><span class="word">${line}</span></span>
        </li>`
    )}
  </ul>`

const Where = ({ about }: { about: string }): VNode =>
  hosts.value.has(about)
    ? html`<a class="dim" href=${address({ page: 'host', host: about })}>${about}</a>`
    : html`<span class="dim">${about}</span>`

export const Events = ({ list, empty, own }: { list: readonly Happening[]; empty: string; own?: string }): VNode =>
  list.length === 0
    ? html`<p class="dim">${empty}</p>`
    : html`<ol class="events">
        ${list.map(
          ({ id, time, tone, about, text }) =>
            html`<li key=${id} class=${tone}>
              <time datetime=${time}>${clockTime(time)}</time>
              <div>${text} ${about !== own && html`<${Where} about=${about} />`}</div>
            </li>`
        )}
      </ol>`

/** A table that scrolls by itself on a narrow screen, also by keyboard. */
export const Table = ({ label, head, children }: { label: string; head: readonly string[]; children?: unknown }): VNode =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead>
        <tr>
          ${head.map(title => html`<th key=${title} scope="col">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${children}
      </tbody>
    </table>
  </div>`
