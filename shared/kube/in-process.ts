// API servers that run in this very process, as that of `npm start`, by their address. They are asked without a socket between, and their
// watches hand out the objects themselves: with a dozen watchers, to write each change down and read it again would be most of the work.
import type { IncomingMessage } from 'node:http'

export interface Request {
  method: string
  /** With its query. */
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer | undefined
}

/** As much of node:http's as is used here. */
export interface Answer extends Pick<IncomingMessage, 'statusCode' | 'headers' | 'resume' | 'destroy'>, AsyncIterable<Buffer> {
  /** What the bytes say, where that is one object: frozen, since others have the same. */
  object?: unknown
  /** In place of bytes: what a watch tells, as frozen objects that all watchers share. */
  events?: AsyncIterable<unknown>
}

export type InProcessServer = (request: Request, signal: AbortSignal) => Promise<Answer>

export const inProcessServers = new Map<string, InProcessServer>()
