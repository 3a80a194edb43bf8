// What the processes of a pod use, as the kernel of this machine counts it.
import { readFile } from 'node:fs/promises'

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
