// `npm run test:fast`: the tests that need no server, pack no package and start no whole Drover, properties tried a tenth as often.
import { join } from 'node:path'
import { runJobs } from './runner/pool.ts'
import { report } from './runner/report.ts'
import { isSlow } from './runner/slow.ts'
import { findTests, jobsOf } from './runner/suite.ts'
import { readTimes } from './runner/times.ts'

const root = join(import.meta.dirname, '..')
const files = (await findTests(root, ['test/**/*.test.ts'])).filter(({ path }) => !isSlow(path))
const out = report(text => process.stdout.write(text), 'npm test --')

await runJobs({
  root,
  jobs: jobsOf(files, await readTimes()).filter(({ shard }) => shard === undefined || shard.startsWith('1/')),
  ready: () => 'yes',
  env: () => ({ NODE_OPTIONS: '--conditions=drover', DROVER_TRIES: '0.1' }),
  least: 3, // of two cores: most files wait a good part of their time
  most: 4,
  onEnd: out.onEnd
})
process.exitCode = out.close([]) ? 0 : 1
