// Tries again by a policy, until it is taken or given up.
import type { Clock } from './clock.ts'
import type { Policy } from './policy.ts'
import { retryAfterMs, type Result, type Verdict } from './verdict.ts'

export async function persist(
  send: () => Promise<Result>,
  judge: (result: Result) => Verdict,
  policy: Policy,
  clock: Clock
): Promise<{ verdict: Verdict; attempts: number }> {
  for (let retry = 1; ; retry++) {
    const verdict = judge(await send())
    if (verdict.done || !verdict.retry || retry > policy.retries) return { verdict, attempts: retry }
    const ms = Math.max(policy.waitMs(retry), askedFor(verdict.retryAfter, policy, clock))
    if (ms > 0) await new Promise<void>(resolve => clock.after(ms, resolve))
  }
}

function askedFor(header: string | undefined, { retryAfterMaxMs }: Policy, clock: Clock): number {
  if (header === undefined || retryAfterMaxMs === undefined) return 0
  return Math.min(retryAfterMs(header, clock.now()), retryAfterMaxMs)
}
