// Timers, the date and performance.now of the whole process, moved by hand. Node's own mock.timers leaves the last one out, by which the broker counts.
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'

const real = {
  Date: globalThis.Date,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  sleep: timersPromises.setTimeout,
  now: performance.now.bind(performance)
}
export const realTimeout = real.setTimeout
/** Milliseconds that really passed. */
export const realNow = real.now

type Call = (...args: unknown[]) => unknown

class VirtualTimer {
  readonly call: () => unknown
  readonly everyMs: number | undefined
  readonly afterMs: number
  #plan: (timer: VirtualTimer) => void
  #forget: (timer: VirtualTimer) => void
  constructor(
    call: () => unknown,
    ms: number,
    repeat: boolean,
    plan: (timer: VirtualTimer) => void,
    forget: (timer: VirtualTimer) => void
  ) {
    this.call = call
    this.afterMs = Math.max(1, Number.isFinite(ms) ? ms : 1) // as Node has it
    this.everyMs = repeat ? this.afterMs : undefined
    this.#plan = plan
    this.#forget = forget
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
  refresh(): this {
    this.#plan(this)
    return this
  }
  close(): this {
    this.#forget(this)
    return this
  }
  [Symbol.dispose](): void {
    this.#forget(this)
  }
}

/** Moments, the soonest first: a heap, since a large fleet waits for ten thousand of them. */
class Soonest {
  readonly #heap: number[] = []

  add(moment: number): void {
    const heap = this.#heap
    let at = heap.length
    for (let up = (at - 1) >> 1; at > 0 && (heap[up] ?? 0) > moment; up = (at - 1) >> 1) {
      heap[at] = heap[up] ?? 0
      at = up
    }
    heap[at] = moment
  }

  /** The soonest, if it is not after `end`. */
  takeUpTo(end: number): number | undefined {
    const heap = this.#heap
    const [soonest] = heap
    const last = heap.at(-1)
    if (soonest === undefined || last === undefined || soonest > end) return undefined
    heap.length--
    for (let at = 0; heap.length > 0;) {
      const left = 2 * at + 1
      const down = (heap[left + 1] ?? Infinity) < (heap[left] ?? Infinity) ? left + 1 : left
      if ((heap[down] ?? Infinity) >= last) {
        heap[at] = last
        break
      }
      heap[at] = heap[down] ?? 0
      at = down
    }
    return soonest
  }
}

export interface VirtualTimers {
  /** Calls everything that falls due, in its order and at its time. */
  tick(ms: number): void
  restore(): void
}

export function installTimers(startMs: number): VirtualTimers {
  let nowMs = startMs
  // by the millisecond in which they fall due: many timers share one
  const slots = new Map<number, Set<VirtualTimer>>()
  const due = new Soonest()
  const slotOf = new Map<VirtualTimer, number>()
  const forget = (timer: VirtualTimer): void => {
    const at = slotOf.get(timer)
    if (at === undefined) return
    slotOf.delete(timer)
    slots.get(at)?.delete(timer)
  }
  const plan = (timer: VirtualTimer): void => {
    forget(timer)
    const at = Math.ceil(nowMs + timer.afterMs)
    slotOf.set(timer, at)
    const slot = slots.get(at)
    if (slot) return void slot.add(timer)
    slots.set(at, new Set([timer]))
    due.add(at)
  }
  const make =
    (repeat: boolean) =>
    (call: Call, ms = 1, ...args: unknown[]): VirtualTimer => {
      const timer = new VirtualTimer(() => call(...args), ms, repeat, plan, forget)
      plan(timer)
      return timer
    }
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) forget(timer)
    else real.clearTimeout(timer as NodeJS.Timeout) // made before
  }
  const sleep = (ms?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const fail = (): void => {
        clear(timer)
        reject(new DOMException('The operation was aborted', { name: 'AbortError', cause: signal?.reason } as never))
      }
      const timer = make(false)(() => {
        signal?.removeEventListener('abort', fail)
        resolve(value)
      }, ms)
      if (signal?.aborted) fail()
      else signal?.addEventListener('abort', fail, { once: true })
    })
  const VirtualDate = new Proxy(real.Date, {
    construct: (target, args) => (args.length === 0 ? new target(nowMs) : (Reflect.construct(target, args) as Date)),
    get: (target, key) => (key === 'now' ? () => nowMs : (Reflect.get(target, key) as unknown))
  })
  put({
    Date: VirtualDate,
    setTimeout: make(false),
    clearTimeout: clear,
    setInterval: make(true),
    clearInterval: clear,
    sleep,
    now: () => nowMs - performance.timeOrigin
  })

  return {
    tick(ms) {
      const end = nowMs + ms
      for (let at = due.takeUpTo(end); at !== undefined; at = due.takeUpTo(end)) {
        nowMs = Math.max(nowMs, at)
        const slot = slots.get(at)
        slots.delete(at)
        for (const timer of slot ?? []) {
          if (slotOf.get(timer) !== at) continue // taken back by one before it
          slotOf.delete(timer)
          if (timer.everyMs !== undefined) plan(timer)
          timer.call()
        }
      }
      nowMs = end
    },
    restore: () => put(real)
  }
}

function put({ sleep, now, ...globals }: Record<keyof typeof real, unknown>): void {
  Object.assign(globalThis, globals)
  Object.defineProperty(performance, 'now', { value: now, configurable: true, writable: true })
  Object.assign(timersPromises, { setTimeout: sleep })
  syncBuiltinESMExports() // named imports of node:timers/promises, too
}
