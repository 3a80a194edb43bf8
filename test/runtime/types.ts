// Never run: the compiler proves what must not type-check.
import { Type } from 'typebox'
import { nodeChanged } from '../../shared/events/objects.ts'
import { readConfig, Duration } from '../../shared/runtime/config.ts'
import type { Emit } from '../../shared/runtime/emitter.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'

declare const emit: Emit
const data = { apiVersion: 'v1', kind: 'Node', name: 'n1' }

void emit({ kind: nodeChanged, data })
// @ts-expect-error the data does not fit the kind
void emit({ kind: nodeChanged, data: { name: 7 } })

// @ts-expect-error there is no such change
on(nodeChanged, { changed: ['smell'] }, async () => {})

on(nodeChanged, async event => {
  event.data.name.trim()
  // @ts-expect-error the kind has no such field
  event.data.size.toFixed()
})

// @ts-expect-error a handler is asynchronous: what it does not await would fail after the answer
on(nodeChanged, () => {})

defineFunction({
  name: 'f',
  config: Type.Object({ interval: Duration(), zone: Type.Optional(Type.String()) }),
  open: async ({ interval, zone }) => {
    interval.toFixed()
    // @ts-expect-error an optional field may be absent
    return zone.length
  },
  reactions: []
})

defineFunction({
  name: 'f',
  config: Type.Object({}),
  // @ts-expect-error the reaction asks for something that open() does not give
  open: async () => ({}),
  reactions: [on(nodeChanged, async (_event, deps: { nova: string }) => void deps.nova)]
})

const config = readConfig(Type.Object({ port: Type.Integer() }), { env: {} })
// @ts-expect-error configuration is read only
config.port = 1
