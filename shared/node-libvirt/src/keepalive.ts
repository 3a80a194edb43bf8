// virkeepaliveprotocol.x: program "keep", procedure 1 ping, 2 pong, both messages without a body
export const PING = 1
export const PONG = 2

export interface KeepaliveOptions {
  /** Silence after which the server is pinged. */
  readonly intervalMs: number
  /** Unanswered pings after which it is given up. */
  readonly count: number
}

export interface Keepalive {
  /** Anything at all came from the server. */
  readonly heard: () => void
  readonly stop: () => void
}

export function startKeepalive({ intervalMs, count }: KeepaliveOptions, on: { ping: () => void; dead: () => void }): Keepalive {
  let alive = true
  let unanswered = 0
  const timer = setInterval(() => {
    if (alive) unanswered = 0
    alive = false
    if (unanswered++ >= count) return on.dead()
    on.ping()
  }, intervalMs)
  timer.unref() // the socket is what keeps a process running
  return { heard: () => void (alive = true), stop: () => clearInterval(timer) }
}
