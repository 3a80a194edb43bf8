// `npm run test:fast`: the tests that need no server, pack no package and start no whole Drover, properties tried a tenth as often.
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { inOrder } from './runner/order.ts'
import { runFiles, type Ran } from './runner/pool.ts'
import { tally } from './runner/tally.ts'

// What lives for more than some seconds of computing is left to `npm test`: whole fleets, storms, a broker killed again and again, and
// most of the drains that are played through.
const slow =
  /\.real\.test\.ts$|\/package\.test\.ts$|^test\/(?:cli|runner)\/|^test\/local\/(?:demo|start|fleet\/(?:actions|agents|scenarios|simulated)|broker\/durability|kube-api\/bounds)|\/(?:asked|calls|random-[2-8]|storm|together)\.test\.ts$/
const root = join(import.meta.dirname, '..')
const files = (await Array.fromAsync(glob('test/**/*.test.ts', { cwd: root }))).filter(file => !slow.test(file))
const tests = { passed: 0, failed: 0 }

function told({ file, lines, code }: Ran): void {
  const { passed, failed } = tally(lines, code)
  tests.passed += passed
  tests.failed += failed
  if (failed > 0) process.stdout.write(`${lines.join('\n')}\nnot ok - ${file}\n`)
}

await runFiles({
  root,
  files: await inOrder(root, files, () => false),
  ready: () => 'yes',
  env: () => ({ NODE_OPTIONS: '--conditions=drover', DROVER_FAST: 'true' }),
  least: 3, // of two cores: most files wait a good part of their time
  most: 4,
  onEnd: told
})
process.stdout.write(`${tests.passed} passed, ${tests.failed} failed\n`)
process.exitCode = tests.failed === 0 ? 0 : 1
