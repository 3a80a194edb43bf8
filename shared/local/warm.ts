// The end of `npm ci`: a start of the whole platform, so that V8's compile cache is full when somebody waits for it.
import { logLines } from './lines.ts'
import { startPlatform } from './platform.ts'

const later = (why: string): void => void process.stderr.write(`the first npm start will take a second longer: ${why}\n`)

// an installation is whole without it, and must not wait for ever
setTimeout(() => {
  later('the platform did not end within a minute')
  process.exit(0)
}, 60_000).unref()

try {
  const platform = await startPlatform({ logs: logLines('json', () => {}), fleet: { hosts: 1, zones: 1, vms: 1, seed: 1 } })
  await platform.fleet
  await platform.close()
} catch (err) {
  later(err instanceof Error ? err.message : String(err))
}
