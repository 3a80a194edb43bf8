/** Test files that compute or wait for more than some seconds, left to `npm test`: a file, or a folder with all that is in it. */
const slow: readonly string[] = [
  'test/cli/',
  'test/functions/evict/asked.test.ts', // drains that are played through
  'test/functions/evict/together.test.ts',
  'test/functions/ha/storm.test.ts',
  'test/knative/calls.test.ts',
  'test/local/broker/durability.test.ts', // a broker killed again and again
  'test/local/demo.test.ts', // whole fleets
  'test/local/fleet/actions.test.ts',
  'test/local/fleet/agents.test.ts',
  'test/local/fleet/scenarios.test.ts',
  'test/local/fleet/simulated.test.ts',
  'test/local/kube-api/bounds.test.ts',
  'test/local/start.test.ts',
  'test/local/start-all.test.ts',
  'test/local/start-refusals.test.ts',
  'test/runner/'
]

/** Real servers and packed packages, wherever they are tested. */
const kinds: readonly string[] = ['.real.test.ts', '/package.test.ts']

export const isSlow = (path: string): boolean =>
  kinds.some(end => path.endsWith(end)) || slow.some(each => path === each || (each.endsWith('/') && path.startsWith(each)))
