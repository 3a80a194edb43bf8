/** Like Promise.all over `work`, but never more than `limit` at a time. The first failure is thrown when those under way have ended. */
export async function atMost<T, R>(limit: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      results[at] = await work(items[at] as T)
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, lane))
  const failed = lanes.find(result => result.status === 'rejected')
  if (failed) throw failed.reason
  return results
}
