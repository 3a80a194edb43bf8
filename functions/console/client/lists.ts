// Machines, events and dead letters: lists that the search narrows.
import type { VNode } from 'preact'
import type { LetterView, MachineView } from '../../../shared/view/types.ts'
import { html } from './html.ts'
import { clockTime, Events, Table } from './parts.ts'
import { wordsSought } from './route.ts'
import { happenings, letters, machines } from './state.ts'

function fitting<T extends object>(list: readonly T[]): T[] {
  const words = wordsSought()
  return list.filter(one => words.every(word => Object.values(one).join(' ').toLowerCase().includes(word)))
}

const byName = (a: MachineView, b: MachineView): number => a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name)

export function MachinesPage(): VNode {
  const list = fitting([...machines.value.values()].sort(byName))
  const phases = [...Map.groupBy(list, ({ word }) => word)].map(([word, some]) => `${some.length} ${word}`)
  return html`<main>
    <h1>Machines</h1>
    ${
      machines.value.size === 0
        ? html`<p class="dim">There are no Machines. <code>kubectl apply -f machine.yaml</code> makes one.</p>`
        : html`<p class="dim">${phases.join(', ') || 'No Machine fits the search.'}</p>
            <${Table} label="Machines" head=${['Machine', 'Phase', 'Why', 'Node', 'Addresses']}>
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
            <//>`
    }
  </main>`
}

export const EventsPage = (): VNode =>
  html`<main>
    <h1>Events</h1>
    <p class="dim">The newest 200. On the command line: <code>drover events --follow</code></p>
    <${Events} list=${fitting(happenings.value)} empty="Nothing was told within the last hour." />
  </main>`

const Letter = ({ id, time, type, subject, by, code, kept }: LetterView): VNode =>
  html`<tr>
    <td><time datetime=${time}>${clockTime(time)}</time></td>
    <th scope="row">${type}</th>
    <td>${subject}</td>
    <td>${by}</td>
    <td>${code}</td>
    <td>
      ${kept ? html`<code>drover deadletters replay ${id}</code>` : html`<span class="dim">what it carried was not kept</span>`}
    </td>
  </tr>`

export const LettersPage = (): VNode =>
  html`<main>
    <h1>Dead letters</h1>
    <p class="dim">Events that no function could handle, of the last hour. The log of functions/dead-letters has all of them.</p>
    ${
      letters.value.length === 0
        ? html`<p>There are none.</p>`
        : html`<${Table} label="Dead letters" head=${['Time', 'Event', 'About', 'Function', 'Last answer', 'Send it again']}>
            ${fitting(letters.value).map(letter => html`<${Letter} key=${letter.id} ...${letter} />`)}
          <//>`
    }
  </main>`
