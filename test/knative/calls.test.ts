// Each function answers a CloudEvent that is posted to its own address: the lines of knative/README.md, run as they stand there, but for the host.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import t from 'tap'
import { callsOf, curl } from '../../shared/install/calls.ts'
import { isFunction, knative, manifests } from '../../shared/install/manifests.ts'
import { startPlatform } from '../../shared/local/platform.ts'
import type { DroverFunction } from '../../shared/runtime/function.ts'
import { serve } from '../../shared/runtime/serve.ts'

t.setTimeout(300_000)
const run = promisify(execFile)
const readme = await readFile(join(knative, 'README.md'), 'utf8')
const all = await manifests()
const logs = new Writable({ write: (_chunk, _encoding, done) => done() })
const platform = await startPlatform({ functions: ['admission', 'admission-certificate'], logs })
t.teardown(() => platform.close())
// nobody answers there: on an empty cluster nothing is asked of it
const openstack = {
  OS_AUTH_URL: 'http://127.0.0.1:1/v3',
  OS_USERNAME: 'drover',
  OS_PASSWORD: 'none',
  OS_PROJECT_NAME: 'service',
  OS_USER_DOMAIN_NAME: 'Default',
  OS_PROJECT_DOMAIN_NAME: 'Default'
}
const isFile = /^(CONFIG_DIR|.*_FILE)$/

for (const call of callsOf(all)) {
  t.test(`${call.name} answers`, async t => {
    t.match(readme, `    ${curl(call)}\n`, 'it is in the README')
    const { default: fn } = (await import(`../../functions/${call.name}/handler.ts`)) as { default: DroverFunction }
    const service = all.find(one => isFunction(one) && one.metadata.name === call.name)
    const stated: Array<{ name: string; value?: string }> = service?.spec.template.spec.containers[0].env ?? []
    const own = stated.flatMap(({ name, value }) => (value === undefined || isFile.test(name) ? [] : [[name, value]]))
    const env = { ...Object.fromEntries(own), ...openstack, KUBECONFIG: platform.kubeconfig, LOG_LEVEL: 'silent' }
    const { url, close } = await serve(fn, { env, port: 0, host: '127.0.0.1' })
    t.teardown(close)
    const { stdout } = await run('sh', ['-c', curl(call, url)])
    t.equal(stdout.trim(), '204')
  })
}
