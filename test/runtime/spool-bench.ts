// A spool before a sink that can be closed.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import type { Test } from 'tap'
import { libvirtRestored } from '../../shared/events/libvirt.ts'
import { EmitError, type Outgoing } from '../../shared/runtime/emitter.ts'
import { spool, type Spool, type SpoolOptions } from '../../shared/runtime/spool.ts'
import { testPlatform } from './platform.ts'

export const event = (n: number) => ({
  kind: libvirtRestored,
  data: { host: 'h', at: '2026-11-16T12:00:00Z', bootId: 'b', epoch: n },
  subject: `n${n}`,
  id: `id-${n}`
})
const away = new EmitError('unreachable', 'nobody there')

export interface Bench extends Spool {
  got: Outgoing[]
  ids: () => Array<string | undefined>
  sink: { open: boolean; refuse?: string }
  metric: (line: string) => Promise<number>
  stop: () => Promise<void>
}

export async function folderOf(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'spool-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A spool before a sink that takes, is away, or refuses one id for good. */
export async function bench(
  t: Test,
  folder: string,
  { open = true, maxBytes, delay = () => sleep(1) }: { open?: boolean; maxBytes?: number; delay?: SpoolOptions['delay'] } = {}
): Promise<Bench> {
  const got: Outgoing[] = []
  const sink: Bench['sink'] = { open }
  const stop = new AbortController()
  const metrics = new Registry()
  const { log, clock } = testPlatform()
  const made = await spool({
    folder,
    log,
    clock,
    metrics,
    signal: stop.signal,
    ...(maxBytes !== undefined && { maxBytes }),
    delay,
    send: async sent => {
      if (!sink.open) throw away
      if (sent.id !== undefined && sent.id === sink.refuse) throw new EmitError('refused', 'no', { status: 422 })
      got.push(sent)
    }
  })
  t.teardown(() => stop.abort())
  return Object.assign(Object.create(made) as Spool, {
    got,
    sink,
    ids: () => got.map(({ id }) => id),
    metric: async (line: string) =>
      Number(
        (await metrics.metrics())
          .split('\n')
          .find(text => text.startsWith(`${line} `))
          ?.split(' ')[1]
      ),
    stop: async () => {
      stop.abort()
      await made.closed
    }
  })
}
export const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, at) => `id-${at + from}`)
