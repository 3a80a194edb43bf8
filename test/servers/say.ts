/** Progress goes to stderr, so that a test's own output stays clean. */
export const say = (text: string): void => {
  process.stderr.write(`[${new Date().toISOString().slice(11, 19)}] ${text}\n`)
}

/** Whether a real part can be had on this machine; the reason is shown to the person who ran the tests. */
export type Prepared = { ok: true } | { ok: false; reason: string }
