import { pino, symbols, type DestinationStream, type Logger } from 'pino'

type HasStream = Logger & { [symbols.streamSym]: DestinationStream }

/** L1: the seed's fields and words, into the stream of the process's own log. */
export function seedLog(log: Logger): Logger {
  const stream = (log as HasStream)[symbols.streamSym]
  const timestamp = (): string => `,"timestamp":"${new Date().toISOString()}"`
  const formatters = { level: (level: string) => ({ level }) }
  return pino({ name: 'machine', level: log.level, base: {}, messageKey: 'message', timestamp, formatters }, stream)
}
