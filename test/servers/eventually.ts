/** The value, as soon as it is there. A deadline, not a delay: the test goes on at once when the condition holds. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined | false>, deadlineMs = 60_000): Promise<T> {
  const until = Date.now() + deadlineMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > until) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
