/** For the real services of a cloud under load: what takes a second may take a minute. */
export const patienceMs = 240_000

/** What says that it is not there yet; also a count of nothing, and what is not a number. */
type Nothing = undefined | null | false | 0 | ''

/** The value, as soon as it is there. A deadline, not a delay: the test goes on at once when the condition holds. */
export async function eventually<T>(what: string, look: () => Promise<T | Nothing>, deadlineMs = 60_000): Promise<T> {
  const until = Date.now() + deadlineMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > until) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
