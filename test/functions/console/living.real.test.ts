// What README's first minute shows, in a real browser on `npm start` as it is: a pulled cable, a drain from the command line, and the pictures.
// PICTURES=FOLDER keeps them, of a fleet of the usual size; fleet.png of them is the one in the README.
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { drover } from '../../cli/terminal.ts'
import { start } from '../../local/start.ts'
import { startBrowser } from '../../servers/chromium.ts'
import { eventually } from '../../servers/eventually.ts'
import { seriousFindings } from './axe.ts'

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
// a host may be Ready before its agent has told of the first VM
const [first, second] = await eventually(
  'two hosts with VMs',
  async () => {
    const hosts = JSON.parse((await run('get', '-o', 'json')).out) as Array<{ name: string; vms: number }>
    const [one, another] = hosts.filter(({ vms }) => vms > 0).map(({ name }) => name)
    return one !== undefined && another !== undefined ? ([one, another] as const) : undefined
  },
  patience
)

/** Of a fleet in which something goes on, with the buttons of the simulator; each is checked for what keeps people from using it. */
async function takePictures(t: Test, folder: string, host: string): Promise<void> {
  const take = async (name: string, width: number, colorScheme: 'light' | 'dark', path: string, sign: string) => {
    await page.setViewportSize({ width, height: 820 })
    await page.emulateMedia({ colorScheme })
    await page.goto(`${url}/#/${path}`)
    await page.getByText(sign).first().waitFor()
    await page.screenshot({ path: join(folder, `${name}.png`) })
    t.strictSame(await seriousFindings(page), [], name)
  }
  await take('fleet', 1360, 'light', '', 'Under way')
  await take('fleet-dark', 1360, 'dark', '', 'Under way')
  await take('phone', 390, 'light', '', 'Under way')
  await take('host', 1360, 'light', `hosts/${host}`, 'Conditions')
  await take('phone-host-dark', 390, 'dark', `hosts/${host}`, 'Conditions')
  await take('network', 1360, 'dark', 'network', 'ovn-controller')
  await take('fleet-again', 1360, 'light', '', 'Under way')
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
  await page.locator('.job .word', { hasText: /^[1-9]\d* of \d+/ }).waitFor()
  t.match(await run('sim', 'slow-moves', first, '3600'), { code: 0 }, 'it stands still for the pictures')
  await takePictures(t, kept ?? t.testdir(), first)
  t.match(await run('sim', 'heal-moves', first), { code: 0 })
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

async function post(headers: Record<string, string>): Promise<number | undefined> {
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
  const asked = request(`${url}/api/sim/actions/heal-all`, options).end('{}')
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

t.test('doctor finds the local platform in order, and the door of the simulator takes no other site', async t => {
  t.match((await run('doctor')).out, /that of `npm start` answers/)
  const elsewhere = 'elsewhere.example'
  t.equal(await post({ origin: `http://${elsewhere}` }), 403, 'a page of another site')
  t.equal(await post({ origin: `http://${elsewhere}`, host: elsewhere }), 403, 'a name of another site that points here')
  t.equal(await post({ 'content-type': 'text/plain' }), 403, 'a form')
  t.equal(await post({}), 200, 'whoever is on this machine anyway')
  t.match(await run('sim', 'pull-cabel', first), { code: 2, err: /did you mean pull-cable/ })
  t.match(await run('sim', 'pull-cable'), { code: 2, err: /needs host, the name of the host/ })
  t.match(await run('sim', 'fleet'), { code: 0, out: /Nova is up/ })
  t.strictSame(faults, [])
})
