/** How many letters must be changed, added or left out to make one of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The names that somebody may have meant, the likeliest first. */
export function nearest(name: string, known: readonly string[], count = 3): string[] {
  const far = Math.max(2, Math.floor(name.length / 4))
  return known
    .map(other => ({ other, steps: other.includes(name) || name.includes(other) ? 0.5 : distance(name, other) }))
    .filter(({ steps }) => steps <= far)
    .toSorted((a, b) => a.steps - b.steps || a.other.localeCompare(b.other))
    .slice(0, count)
    .map(({ other }) => other)
}

/** `did you mean a, b?`, or what to do to see all. */
export const hint = (name: string, known: readonly string[], otherwise: string): string => {
  const near = nearest(name, known)
  return near.length > 0 ? `did you mean ${near.join(', ')}?` : otherwise
}
