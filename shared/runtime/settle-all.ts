const atOnce = 16

/** One item's failure never keeps another from its turn; all failures are thrown at the end. */
export async function settleAll<T>(items: readonly T[], settle: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  const waiting = items.values()
  const worker = async (): Promise<void> => {
    for (const item of waiting) await settle(item).catch((err: unknown) => failures.push(err))
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${items.length} failed, the first with: ${String(failures[0])}`)
}
