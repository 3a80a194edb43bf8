import type { VNode } from 'preact'
import type { Happening } from '../../../shared/view/types.ts'
import { html } from './html.ts'
import { address } from './route.ts'

export const Bar = ({ percent, label }: { percent: number; label: string }): VNode =>
  html`<div class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100" aria-valuenow=${percent} aria-label=${label}>
    <i style=${{ width: `${percent}%` }}></i>
  </div>`

export const clockTime = (time: string): string =>
  Number.isNaN(Date.parse(time)) ? '' : new Date(time).toLocaleTimeString(undefined, { hour12: false })

export const Events = ({ list, empty }: { list: readonly Happening[]; empty: string }): VNode =>
  list.length === 0
    ? html`<p class="dim">${empty}</p>`
    : html`<ol class="events">
        ${list.map(
          ({ id, time, tone, about, text }) =>
            html`<li key=${id} class=${tone}>
              <time datetime=${time}>${clockTime(time)}</time>
              <span>${text} <a class="dim" href=${address({ page: 'host', host: about })}>${about}</a></span>
            </li>`
        )}
      </ol>`
