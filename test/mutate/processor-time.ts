// Preloaded into a test process: leaves the seconds of processor time that it took in the file DROVER_PROCESSOR_TIME.
import { writeFileSync } from 'node:fs'

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  writeFileSync(process.env['DROVER_PROCESSOR_TIME'] as string, String((user + system) / 1e6))
})
