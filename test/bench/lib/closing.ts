import type { Test } from 'tap'

/** What a bench opened is closed at its end, the last first and each of them. For servers that a test hands its `t` to. */
export async function closing<T>(use: (t: Test) => Promise<T>): Promise<T> {
  const closers: Array<() => unknown> = []
  const errors: unknown[] = []
  const attempt = async (what: () => unknown): Promise<unknown> => {
    try {
      return await what()
    } catch (err) {
      return void errors.push(err)
    }
  }
  const t = { teardown: (close: () => unknown) => void closers.push(close) } as unknown as Test
  const result = (await attempt(() => use(t))) as T
  for (const close of closers.toReversed()) await attempt(close)
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '))
  if (errors.length === 1) throw errors[0]
  return result
}
