// The end of `npm ci`: a start of the whole platform, so that V8's compile cache is full when somebody waits for it.
import { logLines } from './lines.ts'
import { startPlatform } from './platform.ts'

try {
  const platform = await startPlatform({ logs: logLines('json', () => {}), fleet: { hosts: 1, zones: 1, vms: 1, seed: 1 } })
  await platform.fleet
  await platform.close()
} catch (err) {
  // an installation is whole without it
  process.stderr.write(`the first npm start will take a second longer: ${err instanceof Error ? err.message : String(err)}\n`)
}
