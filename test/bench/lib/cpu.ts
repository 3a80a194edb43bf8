import { readFileSync } from 'node:fs'

/** What a process has used of the processors: unlike the time that passed, it says the same on a busy machine. */
// proc(5): utime and stime, in ticks of 10 ms, are the 14th and 15th field; the second may hold blanks.
export function cpuSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
