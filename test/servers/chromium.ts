// Debian's Chromium, driven by playwright-core
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { install } from './install.ts'
import type { Prepared } from './say.ts'

const places = [process.env['CHROME_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome'].filter(place => place !== undefined)
const found = (): string | undefined => places.find(place => existsSync(place))

export async function prepare(): Promise<Prepared> {
  return found() === undefined ? install(['chromium', 'fonts-dejavu-core'], ['/usr/bin/chromium']) : { ok: true }
}

export async function startBrowser(t: { teardown(fn: () => unknown): void }): Promise<Browser> {
  const executablePath = found()
  if (executablePath === undefined) throw new Error('no Chromium: prepare() installs it')
  // nothing of its own is to leave this machine
  const quiet = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync'
  ]
  const browser = await chromium.launch({ executablePath, args: quiet })
  t.teardown(() => browser.close())
  return browser
}
