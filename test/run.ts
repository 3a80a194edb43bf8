// `npm test` and `npm run test:cluster`.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from './runner/run.ts'

const help = `npm test [-- OPTIONS] [FILE…]               types, lint and all tests on what Debian's archive has
npm run test:cluster [-- OPTIONS] [FILE…]   the tests on the real Kubernetes, KubeVirt, Knative and RabbitMQ

  FILE              a path or glob; runs just these files, and starts only the servers that they import
  --grep NAME       only the top-level tests of exactly this name
  --allow-missing   a server that this machine cannot provide does not fail the run; its files are named
`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cluster: { type: 'boolean', default: false },
    grep: { type: 'string' },
    'allow-missing': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false }
  }
})

if (values.help) process.stdout.write(help)
else {
  const tier = values.cluster ? 'cluster' : 'test'
  if (tier === 'cluster') process.env['DROVER_KUBERNETES_KIND'] = 'real'
  process.env['DROVER_KUBERNETES_KIND'] ??= 'embedded'
  const isGood = await run({
    root: join(import.meta.dirname, '..'),
    tier,
    patterns: positionals,
    checks: positionals.length === 0 && tier === 'test' ? ['typecheck', 'lint'] : [],
    grep: values.grep,
    allowMissing: values['allow-missing'],
    shard: positionals.length > 0 ? process.env['DROVER_SHARD'] : undefined,
    write: text => process.stdout.write(text)
  })
  process.exit(isGood ? 0 : 1) // also when a server that was given up still starts
}
