// What README's first minute shows, in a real browser on `npm start` as it is: a pulled cable, a drain from the command line, and the pictures.
// PICTURES=FOLDER keeps them, of a fleet of the usual size; fleet.png of them is the one in the README.
import { join } from 'node:path'
import t from 'tap'
import { drover } from '../../cli/terminal.ts'
import { start } from '../../local/start.ts'
import { startBrowser } from '../../servers/chromium.ts'

const patience = 240_000
t.setTimeout(3 * patience)
const kept = process.env['PICTURES']
const [hostCount, vmCount] = kept === undefined ? [6, 3] : [12, 5]
const npmStart = start(t, '--hosts', String(hostCount), '--vms', String(vmCount), '--log', 'json')
const [, KUBECONFIG = ''] = await npmStart.says(/export KUBECONFIG=(\S+)/)
const [, url = ''] = await npmStart.says(/^ +console +(http:\S+)$/m)
const run = (...args: string[]) => drover(args, { KUBECONFIG })

const browser = await startBrowser(t)
const page = await browser.newPage({ viewport: { width: 1360, height: 900 } })
page.setDefaultTimeout(patience)
const faults: string[] = []
page.on('pageerror', err => faults.push(err.message))
await page.goto(url)

const tile = (host: string, word: string) => page.getByRole('link', { name: new RegExp(`^${host} ${word}`) })
await page.getByRole('button', { name: `Ready ${hostCount}` }).waitFor()
const hosts = JSON.parse((await run('get', '-o', 'json')).out) as Array<{ name: string; vms: number }>
const [first = '', second = ''] = hosts.filter(({ vms }) => vms > 0).map(({ name }) => name)

async function takePictures(folder: string, host: string): Promise<void> {
  const take = async (name: string, width: number, colorScheme: 'light' | 'dark', path: string) => {
    await page.setViewportSize({ width, height: 820 })
    await page.emulateMedia({ colorScheme })
    await page.goto(`${url}/#/${path}`)
    await page.locator('main').waitFor()
    await page.screenshot({ path: join(folder, `${name}.png`) })
  }
  await take('fleet', 1360, 'light', '')
  await take('fleet-dark', 1360, 'dark', '')
  await take('phone', 390, 'light', '')
  await take('host', 1360, 'light', `hosts/${host}`)
  await take('phone-host-dark', 390, 'dark', `hosts/${host}`)
  await take('network', 1360, 'dark', 'network')
  await take('fleet-again', 1360, 'light', '')
}

t.test('a cable is pulled, and the host says so', async t => {
  t.match(await run('sim', 'pull-cable', second), { code: 0 })
  await tile(second, 'Degraded').waitFor()
  await page.getByText('bond0: eth0 down. Traffic runs on eth1; the VMs stay.').waitFor()
  await page.goto(`${url}/#/network?q=${second}`)
  await page
    .getByText(/1 of 2 links usable/)
    .first()
    .waitFor()
  t.match((await run('describe', second)).out, /bond0: eth0 down\. Traffic runs on eth1/)
  await page.goto(`${url}/#/`)
})

t.test('a host is drained from the command line: the bar moves, and the tile turns', async t => {
  t.match(await run('sim', 'slow-moves', first, kept === undefined ? '6' : '12'), { code: 0 })
  const draining = run('drain', first, '--reason', 'new DIMM', '--watch')
  await tile(first, 'Draining').waitFor()
  const bar = page.getByRole('progressbar', { name: `Drain of ${first}` })
  await bar.waitFor()
  await page
    .getByText(/left of \d/)
    .first()
    .waitFor()
  await page
    .getByText(/receiving \d/)
    .first()
    .waitFor()
  await takePictures(kept ?? t.testdir(), first)
  await tile(first, 'Drained').waitFor()
  const { code, out } = await draining
  t.equal(code, 0, out)
  t.match(out, /\[#{1,23}\.{1,23}\] +\d+ % \d of \d/, 'it was half full once')
  t.match(out, /\[#{24}\] 100 % Succeeded/)
  await page.goto(`${url}/#/hosts/${first}`)
  await page
    .getByText(/moved to|Done/)
    .first()
    .waitFor()
  t.match(await run('undrain', first), { code: 0 })
  await page.goto(`${url}/#/`)
  await tile(first, 'Ready').waitFor()
})

t.test('the cable is plugged in by the page, and the host is well', async t => {
  await page.goto(`${url}/#/hosts/${second}`)
  await page.getByRole('button', { name: 'plug cable' }).click()
  await page.getByText(`the cable of eth0 of ${second} is in`).waitFor()
  await page.goto(`${url}/#/`)
  await tile(second, 'Ready').waitFor()
  t.equal((await run('events', second)).code, 0)
})

t.test('doctor finds the local platform in order, and the door of the simulator takes no other site', async t => {
  t.match((await run('doctor')).out, /that of `npm start` answers/)
  const request = {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', origin: 'http://elsewhere.example' }
  }
  t.equal((await fetch(`${url}/api/sim/actions/heal-all`, request)).status, 403)
  t.match(await run('sim', 'pull-cabel', first), { code: 2, err: /did you mean pull-cable/ })
  t.match(await run('sim', 'pull-cable'), { code: 2, err: /needs host, the name of the host/ })
  t.match(await run('sim', 'fleet'), { code: 0, out: /Nova is up/ })
  t.same(faults, [])
})
