// What processes use, as the kernel of this machine counts it. Memory is in MiB (2^20 bytes) everywhere.
import { readFileSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename } from 'node:path'

const ticksASecond = 100 // USER_HZ, on every architecture that Node runs on

/** The one unit of memory in figures and goals. */
export const mib = (bytes: number): number => bytes / 2 ** 20
/** A goal that was set in megabytes of 10^6 bytes stays as strict as it was. */
export const megabytesAsMib = (megabytes: number): number => mib(megabytes * 1e6)

// proc(5): what follows the name, which may hold blanks; utime and stime are the 14th and 15th field of all, starttime the 22nd
const stat = (pid: number | undefined): number[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? []

/** Seconds of CPU until now: unlike the time that passed, it says the same on a busy machine. */
export function cpuSeconds(pid: number | undefined): number {
  const fields = stat(pid)
  return ((fields[11] ?? Number.NaN) + (fields[12] ?? Number.NaN)) / ticksASecond
}

/** When it was started, in milliseconds since the machine was. */
export const startedAt = (pid: number): number => ((stat(pid)[19] ?? Number.NaN) * 1000) / ticksASecond

export const sinceBoot = async (): Promise<number> => Number((await readFile('/proc/uptime', 'utf8')).split(' ')[0]) * 1000

async function kernelField(file: string, field: RegExp): Promise<number> {
  const [, kibibytes] = field.exec(await readFile(file, 'utf8')) ?? []
  return mib(Number(kibibytes) * 1024)
}

export const residentMib = (pid: number | undefined): Promise<number> => kernelField(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB/m)

/** Its own, and its part of what it shares with others: the sum over many processes is what they hold together. */
export const proportionalMib = (pid: number): Promise<number> => kernelField(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m)

/** Seconds of CPU until now by program: of all that runs on this machine, since it is two cores that all of them share. */
export async function cpuByProgram(): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)) {
    try {
      const program = pid === process.pid ? 'this bench' : basename(await readlink(`/proc/${pid}/exe`))
      found.set(program, (found.get(program) ?? 0) + cpuSeconds(pid))
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
