// A process under the memory and CPU limits of its manifest, as a kubelet sets them: control groups of version 1.
import { existsSync } from 'node:fs'
import { mkdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseQuantity, toNumber } from '../../../shared/schema/quantity.ts'
import { eventually } from '../../servers/eventually.ts'
import type { Shipped } from './shipped.ts'

const root = '/sys/fs/cgroup'
const periodUs = 100_000

export interface Confined {
  /** Before the program and its arguments; the process keeps its id. */
  command: readonly string[]
  /** Which limits hold, to be read beside the figure. */
  note: string
}

interface Teardown {
  teardown: (end: () => Promise<void>) => void
}

let groups = 0
const amount = (text: string): number => toNumber(parseQuantity(text) ?? 0n)

const textOf = ({ memory, cpu }: Shipped['limits']): string =>
  [memory && `memory ${memory}`, cpu && `CPU ${cpu}`].filter(Boolean).join(', ')

/** Said beside the figures of a function that runs in the process of the bench. */
export const unconfined = ({ limits, containerConcurrency }: Shipped): string =>
  `RAISED: in the process of the bench, without the shipped limits (${textOf(limits)}, ${containerConcurrency} events at once)`

/** To be called before the process is started, so that it ends before its groups do. */
export async function confine(t: Teardown, { limits }: Pick<Shipped, 'limits'>): Promise<Confined> {
  const { memory, cpu } = limits
  const said = textOf(limits)
  if (!said) return { command: [], note: 'the manifest sets no limits' }
  if (process.getuid?.() !== 0 || !existsSync(`${root}/memory/cgroup.procs`) || !existsSync(`${root}/cpu/cgroup.procs`))
    return { command: [], note: `RAISED: the shipped limits (${said}) are not set, which takes root and control groups v1` }
  const name = `drover-bench-${process.pid}-${groups++}`
  const folders: string[] = []
  const group = async (kind: string, file: string, value: number): Promise<void> => {
    const folder = join(root, kind, name)
    await mkdir(folder)
    folders.push(folder)
    await writeFile(join(folder, file), String(value))
  }
  t.teardown(async () => {
    // busy until the last of its processes is gone
    for (const folder of folders) await eventually(`${folder} to be empty`, () => rmdir(folder).then(() => true, isBusy), 10_000)
  })
  if (memory) await group('memory', 'memory.limit_in_bytes', amount(memory))
  if (cpu) await group('cpu', 'cpu.cfs_quota_us', amount(cpu) * periodUs)
  const enter = 'n=$1; shift; for i in $(seq $n); do echo $$ > "$1/cgroup.procs"; shift; done; exec "$@"'
  return { command: ['/bin/sh', '-ec', enter, 'enter', String(folders.length), ...folders], note: `shipped limits: ${said}` }
}

const isBusy = (err: NodeJS.ErrnoException): false => {
  if (err.code !== 'EBUSY') throw err
  return false
}
