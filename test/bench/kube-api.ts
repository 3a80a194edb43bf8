import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startKubernetes } from '../servers/real-kubernetes.ts'
import { applies, fill, type Server } from './kube-api/load.ts'
import { closing } from './lib/closing.ts'
import { atLeast, atMost, type Figures, type Report } from './lib/figures.ts'
import { mib } from './lib/processes.ts'
import { alternate } from './lib/statistics.ts'

const count = 5000

export const figures: Figures = {
  'kube-api.applies': {
    unit: 'server-side applies/s that a watch sees',
    against: 'the real kube-apiserver, which runs meanwhile',
    goal: atLeast(3)
  },
  'kube-api.memory': { unit: 'MiB', goal: atMost(400), note: '1,000 Hypervisors and 50,000 small objects' }
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const child = fork(join(import.meta.dirname, 'kube-api', 'serve.ts'))
    t.teardown(() => child.disconnect())
    const [server] = (await once(child, 'message')) as [Server]
    const plane = await startKubernetes()
    t.teardown(() => plane.stop())
    const real = { url: plane.server, token: plane.adminToken, ca: await readFile(plane.ca, 'utf8') }
    const ways = { ours: (round: number) => applies(server, count, round), peer: (round: number) => applies(real, count, round) }
    const runs = await alternate(report.rounds(3), ways)
    report('kube-api.applies', runs.ours, { peer: runs.peer })
    await fill(server, 1000, 50_000)
    child.send('rss')
    const [{ rss }] = (await once(child, 'message')) as [{ rss: number }]
    report('kube-api.memory', mib(rss))
  })
