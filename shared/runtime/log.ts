import { destination, pino, type DestinationStream, type Logger } from 'pino'

export type { Logger } from 'pino'

export interface LogOptions {
  name: string
  level?: string
  to?: DestinationStream
}

let stdout: DestinationStream | undefined

/** One for the process: written when 8 KiB are full, ten times a second, and on exit. A write for each line costs as much as an event. */
function standardOutput(): DestinationStream {
  if (stdout === undefined) {
    const stream = destination({ fd: 1, sync: true, minLength: 8192, periodicFlush: 100 })
    process.once('exit', () => stream.flushSync())
    stdout = stream
  }
  return stdout
}

/** JSON lines, on standard output unless told otherwise. */
export function createLog({ name, level = 'info', to = standardOutput() }: LogOptions): Logger {
  return pino({ name, level, base: {} }, to)
}

/** `00-<trace id>-<parent id>-<flags>`, https://www.w3.org/TR/trace-context/#traceparent-header */
export const traceId = (traceparent: string): string => traceparent.slice(3, 35)
