/** Nova leaves the zone out of most of its times; all are UTC. Undefined when there is none. Pure. */
export function novaTimeMs(text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const ms = Date.parse(/Z|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(ms) ? undefined : ms
}
