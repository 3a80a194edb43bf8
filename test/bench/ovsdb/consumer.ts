// A process that holds a copy of one table and prints what the snapshot and the updates cost it, in milliseconds of processor time.
import { column, open } from 'ovsdb-client'

const [remote, rows, updates] = process.argv.slice(2) as [string, string, string]
const { string, integer, optional, set, map } = column
const spec = {
  Item: {
    name: string,
    count: integer,
    big: integer,
    note: optional(string),
    tags: set(string),
    labels: map(string, string),
    counters: map(string, integer)
  }
} as const

const stopwatch = () => {
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
}

const snapshot = stopwatch()
const db = open({ remotes: [remote], database: 'Test' })
const monitor = db.monitor(spec)
const news = monitor.changes()
await news.next()
if (monitor.rows('Item')?.size !== Number(rows)) throw new Error('the snapshot is not whole')
console.log(snapshot())

const stream = stopwatch()
for (let seen = 0; seen < Number(updates);) {
  const { value } = await news.next()
  if (value?.kind === 'changes') seen += value.changes.length
}
console.log(stream())
await db.close()
