import type { DestinationStream } from 'pino'

interface Line {
  level: number | string
  time?: number
  name: string
  msg?: string
  /** The machine function speaks in the words of the operator whose place it takes. */
  timestamp?: string
  message?: string
  type?: string
  subject?: string
  /** Of an event a word; of a move what Nova answered. */
  outcome?: unknown
  ms?: number
  reason?: string
  /** Of an OpenStack that answered otherwise than asked. */
  words?: string
  err?: { message: string }
  /** What a function did to the outside world (HV-67). */
  host?: string
  action?: string
  before?: string
  after?: string
  /** A move that was asked for. */
  eviction?: string
  server?: string
  how?: string
}

const short = (type: string): string => type.replace(/^(?:[a-z0-9]+\.)+(?=[a-z0-9-]+\.[a-z]+\.v\d+$)/, '').replace(/\.v\d+$/, '')

const actOf = ({ host, action, before, after }: Partial<Line>): string | undefined =>
  action && `${host}: ${action} ${before === undefined ? '' : `${before} → `}${after}`

const moveOf = ({ eviction, server, how }: Partial<Line>): string | undefined =>
  eviction && server && `${eviction}: server ${server} is moved${how === undefined ? '' : ` (${how})`}`

/** One log line for people: when, who, what, with what outcome, how long. */
export function readable(json: string): string {
  const {
    level,
    time,
    timestamp = '',
    name,
    message,
    msg = message,
    type,
    subject,
    outcome,
    ms,
    reason,
    words,
    err,
    ...act
  } = JSON.parse(json) as Line
  const what =
    outcome !== undefined && type !== undefined
      ? [short(type), subject].filter(Boolean).join(' ')
      : (actOf(act) ?? moveOf(act) ?? msg)
  const duration = ms === undefined ? undefined : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`
  const why =
    level === 'warn' || level === 'error' || (typeof level === 'number' && level >= 40)
      ? (reason ?? err?.message ?? words)
      : words?.replaceAll(/\s+/g, ' ')
  return [
    new Date(time ?? timestamp).toISOString().slice(11, 23),
    name.padEnd(14),
    what,
    typeof outcome === 'string' && `→ ${outcome}`,
    duration,
    why && `(${why})`
  ]
    .filter(Boolean)
    .join('  ')
}

export const logFormats = ['brief', 'text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

/** What a person is not told: events that concern nobody and single calls; in brief also those that were simply handled. */
const untold: Record<Exclude<LogFormat, 'json'>, RegExp> = {
  brief: /"outcome":"(?:ignored|done)"|"msg":"asked OpenStack"/,
  text: /"outcome":"ignored"|"msg":"asked OpenStack"/
}

/** Where the logs of everything in the process go: as they are for machines, or a readable line each. */
export function logLines(format: LogFormat, write: (text: string) => void): DestinationStream {
  return {
    write(line) {
      if (format === 'json') write(line)
      else if (!untold[format].test(line)) write(`${readable(line)}\n`)
    }
  }
}
