import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startKubernetes } from '../servers/real-kubernetes.ts'
import { applies, fill, type Server } from './kube-api/load.ts'
import type { Report } from './report.ts'

export const name = 'kube-api'

const count = 5000

async function realRate(): Promise<number> {
  const plane = await startKubernetes()
  try {
    return await applies({ url: plane.server, token: plane.adminToken, ca: await readFile(plane.ca, 'utf8') }, count)
  } finally {
    await plane.stop()
  }
}

/** The embedded API against the real one, on the same machine, one after the other; then its memory. */
export async function run(report: Report): Promise<void> {
  const child = fork(join(import.meta.dirname, 'kube-api', 'serve.ts'))
  try {
    const [server] = (await once(child, 'message')) as [Server]
    const ours = await applies(server, count)
    const peer = await realRate()
    report({ name: 'server-side applies that a watch sees', ours, peer, goal: { atLeast: 3 }, unit: '/s' })
    await fill(server, 1000, 50_000)
    child.send('rss')
    const [{ rss }] = (await once(child, 'message')) as [{ rss: number }]
    report({
      name: 'memory, 1,000 Hypervisors and 50,000 small objects',
      ours: rss / 2 ** 20,
      goal: { atMost: 400 },
      unit: 'MiB'
    })
  } finally {
    child.disconnect()
  }
}
