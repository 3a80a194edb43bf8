// What the function itself wrote about each event: a line in the log of its pod, read while it runs, since a pod that the autoscaler ends takes
// its log with it.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { podsOf, type World } from '../../knative-cluster/world.ts'

const quietMs = 30_000

export interface Records {
  /** Looks for pods that are new. */
  look: () => Promise<void>
  /** When each event was handled, in milliseconds since 1970; more than once if it was delivered more than once. */
  byId: () => Map<string, number[]>
  /** Resolves when so many events were handled, or when nothing more was for a while: what is missing then is lost. */
  settled: (events: number) => Promise<Map<string, number[]>>
}

/** Events whose ids begin with this. */
export async function followRecords(t: Test, world: World, fn: string, prefix: string): Promise<Records> {
  const { server, adminToken } = world.cluster
  const ca = await readFile(world.cluster.ca, 'utf8')
  const byPod = new Map<string, Map<string, number[]>>()
  const following = new Set<string>()
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  let lastMs = Date.now()

  function take(into: Map<string, number[]>, line: string): void {
    if (!line.includes(`"id":"${prefix}`)) return
    const { id, time } = JSON.parse(line) as { id: string; time: number }
    into.set(id, [...(into.get(id) ?? []), time])
    lastMs = Date.now()
  }

  async function follow(name: string, uid: string): Promise<void> {
    const path = `/api/v1/namespaces/drover/pods/${name}/log?container=function&follow=true`
    const call = get(`${server}${path}`, { ca, headers: { authorization: `Bearer ${adminToken}` }, signal: stop.signal })
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    if (response.statusCode !== 200) return void response.resume() // not started yet
    const records = new Map<string, number[]>() // a log that is read again is read from its beginning
    byPod.set(uid, records)
    for await (const line of createInterface(response)) take(records, line)
  }

  const byId = (): Map<string, number[]> => {
    const all = new Map<string, number[]>()
    for (const records of byPod.values()) for (const [id, times] of records) all.set(id, [...(all.get(id) ?? []), ...times])
    return all
  }

  return {
    async look() {
      for (const { metadata } of await podsOf(world, fn)) {
        if (following.has(metadata.uid)) continue
        following.add(metadata.uid)
        void follow(metadata.name, metadata.uid)
          .catch((err: unknown) => {
            if (!stop.signal.aborted) console.error(`the log of ${metadata.name} is read again:`, err)
          })
          .finally(() => following.delete(metadata.uid))
      }
    },
    byId,
    async settled(events) {
      lastMs = Date.now()
      let all = byId()
      while (all.size < events && Date.now() - lastMs < quietMs) {
        await new Promise(resolve => setTimeout(resolve, 500))
        all = byId()
      }
      return all
    }
  }
}
