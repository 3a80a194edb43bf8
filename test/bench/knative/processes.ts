// What the processes of the cluster use, as the kernel of this machine counts it.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename } from 'node:path'

const ticksASecond = 100 // USER_HZ, on every architecture that Node runs on

async function stat(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** Seconds of CPU until now. */
export const cpuSeconds = async (pid: number): Promise<number> => {
  const fields = await stat(pid)
  return (Number(fields[11]) + Number(fields[12])) / ticksASecond
}

/** When it was started, in milliseconds since the machine was. */
export const startedAt = async (pid: number): Promise<number> => (Number((await stat(pid))[19]) * 1000) / ticksASecond

export const sinceBoot = async (): Promise<number> => Number((await readFile('/proc/uptime', 'utf8')).split(' ')[0]) * 1000

export async function megabytes(pid: number): Promise<number> {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kibibytes) * 1024) / 1e6
}

/** Its own, and its part of what it shares with others: the sum over many processes is what they hold together. */
export async function proportional(pid: number): Promise<number> {
  const [, kibibytes] = /^Pss:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
  return (Number(kibibytes) * 1024) / 1e6
}

/** Seconds of CPU until now by program: of all that runs on this machine, since it is two cores that all of them share. */
export async function cpuByProgram(): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)) {
    try {
      const program = pid === process.pid ? 'this bench' : basename(await readlink(`/proc/${pid}/exe`))
      found.set(program, (found.get(program) ?? 0) + (await cpuSeconds(pid)))
    } catch {
      // a kernel thread, or it ended while we looked
    }
  }
  return found
}

/** Who used most between two looks, as parts of one core. */
export const busiest = (before: Map<string, number>, after: Map<string, number>, seconds: number): Array<[string, number]> =>
  [...after]
    .map(([program, used]): [string, number] => [program, (100 * (used - (before.get(program) ?? 0))) / seconds])
    .filter(([, share]) => share >= 1)
    .toSorted(([, a], [, b]) => b - a)
