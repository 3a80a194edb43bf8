// What README's first minute shows, in a real browser on `npm start` as it is: a drain from the command line, a pulled cable, and the picture.
import { join } from 'node:path'
import t from 'tap'
import { drover } from '../../cli/terminal.ts'
import { start } from '../../local/start.ts'
import { startBrowser } from '../../servers/chromium.ts'

const patience = 240_000
t.setTimeout(3 * patience)
const npmStart = start(t, '--hosts', '6', '--vms', '2', '--log', 'json')
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
await page.getByRole('button', { name: 'Ready 6' }).waitFor()
const hosts = JSON.parse((await run('get', '-o', 'json')).out) as Array<{ name: string; vms: number }>
const [first = '', second = ''] = hosts.filter(({ vms }) => vms > 0).map(({ name }) => name)

t.test('a cable is pulled, and the host says so', async t => {
  t.match(await run('sim', 'pull-cable', second), { code: 0 })
  await tile(second, 'Degraded').waitFor()
  await page.goto(`${url}/#/network?q=${second}`)
  await page
    .getByText(/1 of 2 links usable/)
    .first()
    .waitFor()
  await page.goto(`${url}/#/hosts/${second}`)
  await page.getByRole('button', { name: 'plug cable' }).click()
  await page.goto(`${url}/#/`)
  await tile(second, 'Ready').waitFor()
  t.match((await run('events', second)).code, 0)
})

t.test('a host is drained from the command line: the bar moves, and the tile turns', async t => {
  t.match(await run('sim', 'slow-moves', first, '6'), { code: 0 })
  const draining = run('drain', first, '--reason', 'new DIMM', '--watch')
  await tile(first, 'Draining').waitFor()
  await page.getByRole('progressbar', { name: `Drain of ${first}` }).waitFor()
  await page
    .getByText(/left of \d/)
    .first()
    .waitFor()
  await page.screenshot({ path: join(t.testdir(), 'draining.png') })
  await tile(first, 'Drained').waitFor()
  const { code, out } = await draining
  t.equal(code, 0, out)
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
