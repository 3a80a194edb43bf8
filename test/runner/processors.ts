import { cpus } from 'node:os'

export interface Times {
  idle: number
  total: number
}

export interface Processors {
  /** They had nothing to do for a good part of the time, for at least two seconds. */
  idle: () => boolean
  /** Something new was begun: what was seen before says nothing any more. */
  occupied: () => void
}

const windowMs = 2000
const goodPart = 0.3

/** Whether a test file more can run beside the others: most of them wait, some of them compute. */
export function processors(read = readTimes, count = cpus().length): Processors {
  let since = read()
  return {
    occupied: () => void (since = read()),
    idle() {
      const now = read()
      const passed = now.total - since.total
      if (passed < windowMs * count) return false
      const share = (now.idle - since.idle) / passed
      since = now
      return share >= goodPart
    }
  }
}

function readTimes(): Times {
  const times = cpus().map(cpu => cpu.times)
  const idle = times.reduce((sum, time) => sum + time.idle, 0)
  return { idle, total: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle) }
}
