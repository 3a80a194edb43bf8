import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What this process still holds once all garbage is collected. The resident set would also show what the allocator has not given back. */
export function heldMiB(): number {
  collect()
  collect() // what the first let go of outside of the heap
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}
