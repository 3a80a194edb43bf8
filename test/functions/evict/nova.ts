// What the proofs on the real Nova share: servers in every state, the function as a process of its own, and what must never be seen.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Cloud, Migration, Server } from 'openstack-sdk-lite'
import type { Test } from 'tap'
import { atMost } from '../../../functions/evict/at-most.ts'
import { eventually, patienceMs } from '../../servers/eventually.ts'
import type { OpenStack } from '../../servers/openstack.ts'

const terminal = new Set(['completed', 'done', 'confirmed', 'reverted', 'cancelled', 'failed', 'error'])
export const isUnderWay = ({ status }: Migration): boolean => !terminal.has(status) && status !== 'finished'

export const reaches = (cloud: Cloud, id: string, status: string): Promise<Server> =>
  eventually(
    `${id} to be ${status}`,
    async () => {
      const found = await cloud.servers.get(id)
      if (found?.status === 'ERROR' && status !== 'ERROR') throw new Error(`${id} is in ERROR: ${found.fault?.message ?? ''}`)
      return found?.status === status && found.taskState === null && found
    },
    patienceMs
  )

/** By name; all of them run. */
export async function makeServers(
  cloud: Cloud,
  { imageId, flavorId }: Pick<OpenStack, 'imageId' | 'flavorId'>,
  wanted: ReadonlyArray<{ name: string; host: string; flavor?: string }>
): Promise<Map<string, string>> {
  const made = await atMost(6, wanted, async ({ name, host, flavor = flavorId }) => {
    const { id } = await cloud.servers.create({ name, host, imageId, flavorId: flavor, networks: 'none' })
    return [name, id] as const
  })
  await atMost(6, made, ([, id]) => reaches(cloud, id, 'ACTIVE'))
  return new Map(made)
}

/** A server that Nova calls DELETED is gone from its host; only its record is about to go (on a busy machine for many seconds). */
export const present = async (cloud: Cloud, host: string): Promise<Server[]> =>
  (await cloud.servers.list({ host, allProjects: true })).filter(({ status }) => status !== 'DELETED')

/**
 * Never two moves of one server from one place (a record is closed a little after its server arrived, and its user may move it on meanwhile),
 * never an open move of a host that is called empty, and nobody on it. Undefined, or what is wrong.
 */
export async function wrongIn(cloud: Cloud, host: string, verdict: string | undefined): Promise<string | undefined> {
  const open = (await cloud.migrations.list({})).filter(isUnderWay)
  const twice = open.find(
    ({ server, source }, at) => open.findIndex(other => other.server === server && other.source === source) !== at
  )
  if (twice)
    return `two moves of ${twice.server} at once: ${JSON.stringify(open.filter(({ server }) => server === twice.server))}`
  if (verdict !== 'Succeeded') return undefined
  const left = await present(cloud, host)
  if (left.length > 0) return `called empty, but ${left.map(({ id }) => id).join()} are there`
  const coming = open.find(({ source, target }) => source === host || target === host)
  return coming && `called empty, but the migration ${coming.id} is ${coming.status}`
}

export interface Process {
  start(): Promise<void>
  /** -9 */
  kill(): Promise<void>
  /** the status of the answer; undefined when the process died before it gave one */
  post(type: string, data: object): Promise<number | undefined>
  tick(speed: 'fast' | 'slow'): Promise<number | undefined>
}

/** The function as it runs in a cluster: a process of its own, told by events. */
export function evictProcess(t: Test, env: NodeJS.ProcessEnv): Process {
  let child: ChildProcess | undefined
  let url = ''
  let number = 0
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  t.teardown(kill)
  const post: Process['post'] = async (type, data) => {
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': String((number += 1)),
      'ce-source': '/test',
      'ce-type': type
    }
    try {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(data) })
      await response.arrayBuffer()
      return response.status
    } catch (err) {
      if (err instanceof TypeError) return undefined // killed in the middle: the event is lost, and the tick must do
      throw err
    }
  }
  return {
    async start() {
      const own = { PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info', PATH: process.env['PATH'] }
      const born = spawn(process.execPath, ['--conditions=drover', 'functions/evict/main.ts'], {
        env: { ...own, ...env },
        stdio: ['ignore', 'pipe', 'inherit']
      })
      child = born
      // its log is read to the end: a full pipe would hold it up
      const listening = new Promise<string>((resolve, reject) => {
        createInterface(born.stdout).on('line', line => {
          const found = /"url":"([^"]+)"/.exec(line)?.[1]
          if (found) resolve(found)
        })
        born.once('exit', () => reject(new Error('the function ended before it listened')))
      })
      url = await listening
    },
    kill,
    post,
    tick: speed => post('dev.knative.sources.ping', { tick: speed })
  }
}
