// What the policy says of a fault of one server (HA-14): its own metadata, then the aggregate or flavor, then the kind of fault. Pure.
import type { Server } from 'openstack-sdk-lite'
import type { Answer, Policy } from './policy.ts'

interface Answered {
  answer: Answer
  words: string
}

const wish = (value: string | undefined): boolean | undefined => {
  if (value === undefined) return undefined
  return /^(true|yes|on|1)$/i.test(value.trim()) ? true : /^(false|no|off|0)$/i.test(value.trim()) ? false : undefined
}

type Aggregates = readonly { name: string; metadata?: Record<string, string> | undefined }[]

/** What its owner or operator says of it, the nearest to it first. */
export function wishOf(
  server: Server | undefined,
  aggregates: Aggregates,
  { vm }: Policy
): { wish: boolean | undefined; from: string } | undefined {
  return [
    { wish: wish(server?.metadata[vm.metadataKey]), from: `its metadata ${vm.metadataKey}` },
    ...aggregates.map(({ name, metadata }) => ({ wish: wish(metadata?.[vm.aggregateKey]), from: `aggregate ${name}` })),
    { wish: wish(server?.flavor?.extraSpecs[vm.flavorKey]), from: `its flavor` }
  ].find(({ wish }) => wish !== undefined)
}

export function answerFor(kind: string, server: Server | undefined, aggregates: Aggregates, policy: Policy): Answered {
  const { vm } = policy
  const byKind = vm.answer[kind as keyof typeof vm.answer] ?? 'report'
  const said = wishOf(server, aggregates, policy)
  if (said?.wish === false && byKind === 'restart') return { answer: 'report', words: `Not restarted: ${said.from} says so.` }
  const from = said?.wish === true ? ` (${said.from} wants it)` : ''
  return { answer: byKind, words: `The policy for ${kind} is ${byKind}${byKind === 'restart' ? from : ''}.` }
}
