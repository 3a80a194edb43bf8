import { retry, type RetryOptions, type RetryPolicy } from './retry.ts'

/** A function's dependencies on their way: awaited while a try runs, failing at once between two tries. */
export interface Opening<Deps> {
  deps: () => Promise<Deps>
  /** Why the function is not ready; undefined when it is. */
  problem: () => string | undefined
}

const untilItWorks: RetryPolicy = { attempts: Number.POSITIVE_INFINITY, minDelayMs: 500, maxDelayMs: 15_000 }

export function opening<Deps>(
  open: () => Promise<Deps>,
  { policy = untilItWorks, ...options }: Omit<RetryOptions, 'retryable'> & { policy?: RetryPolicy } = {}
): Opening<Deps> {
  let problem: string | undefined = 'starting'
  let current: Promise<Deps>

  const attempt = async (): Promise<void> => {
    current = open()
    try {
      await current
      problem = undefined
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
      throw error
    }
  }
  const opened = retry(policy, attempt, options)
  opened.catch(() => {}) // told by onRetry, by problem() and to everyone who asks for deps()

  return {
    deps: () => current,
    problem: () => problem
  }
}
