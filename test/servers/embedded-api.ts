// A process of its own for the embedded API, so that a test may kill it and start it again: `embedded-api.ts FOLDER PORT`.
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startKubeApi } from '../../shared/local/kube-api/index.ts'
import type { User } from '../../shared/local/kube-api/cluster.ts'
import { openState } from '../../shared/local/state.ts'

const [folder, port] = process.argv.slice(2) as [string, string]
const at = (name: string): string => join(folder, name)
const users = JSON.parse(readFileSync(at('users.json'), 'utf8')) as Record<string, User>

await startKubeApi({
  port: Number(port),
  state: openState(at('state.db')),
  certificate: { certificate: readFileSync(at('apiserver.crt'), 'utf8'), key: readFileSync(at('apiserver.key'), 'utf8') },
  users,
  // written before the answer is sent: a test that has its answer finds the line
  audit(event) {
    if (event.user.groups.includes('system:serviceaccounts')) appendFileSync(at('audit.log'), `${JSON.stringify(event)}\n`)
  }
})
