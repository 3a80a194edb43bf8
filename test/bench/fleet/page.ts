// How long the page takes from a message of its stream to the frame that shows it, with 1,000 hosts, in headless Chromium.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadAssets } from '../../../functions/console/assets.ts'
import type { HostView, Update } from '../../../shared/view/types.ts'
import { startBrowser } from '../../servers/chromium.ts'
import { atMost, type Figures, type Report } from '../lib/figures.ts'

/** `changing` hosts change with each update. */
const load = { hosts: 1000, updates: 200, changing: 50 }

export const pageFigures: Figures = {
  'fleet.page.update': {
    unit: 'ms',
    of: 'p95',
    goal: atMost(100),
    note: `${load.hosts} hosts, of which ${load.changing} change`
  },
  'fleet.page.first': { unit: 'ms', note: `the first picture of ${load.hosts} hosts` }
}

const view = (i: number, tick: number): HostView => {
  const busy = (i + tick) % 7 === 0
  return {
    name: `node${String(i).padStart(4, '0')}`,
    zone: `zone-${i % 3}`,
    block: `bb${i % 12}`,
    tone: busy ? 'busy' : 'ok',
    word: busy ? 'Draining' : 'Ready',
    line: `50 VMs · ${tick}`,
    percent: (i + tick) % 100,
    vms: 50,
    network: { tone: 'ok', line: '' },
    find: `node${i} ${Array.from({ length: 50 }, (_, n) => `vm-${i}-${n}`).join(' ')}`
  }
}

function updateOf(tick: number): Update {
  const { hosts, changing } = load
  const changed = Array.from({ length: changing }, (_, n) => view((tick * changing + n) % hosts, tick))
  const happenings = changed.slice(0, 5).map(({ name }, n) => ({
    id: `${tick}/${n}`,
    time: new Date(tick * 1000).toISOString(),
    tone: 'busy' as const,
    about: name,
    text: 'Ready → Draining'
  }))
  return {
    title: 'bench',
    hosts: changed,
    machines: [],
    happenings,
    gone: { hosts: [], machines: [] },
    stirred: changed.map(({ name }) => name)
  }
}

/** Runs in the page before its own code: times each message until the frame after it is out. */
const stopwatch = `
  globalThis.taken = []
  const listen = EventSource.prototype.addEventListener
  EventSource.prototype.addEventListener = function (type, handle, options) {
    if (type !== 'message') return listen.call(this, type, handle, options)
    return listen.call(this, type, event => {
      const startedAt = performance.now()
      handle.call(this, event)
      requestAnimationFrame(() => setTimeout(() => taken.push(performance.now() - startedAt)))
    }, options)
  }`

export async function measurePage(report: Report): Promise<void> {
  const assets = await loadAssets()
  let stream: ServerResponse | undefined
  const server = createServer(({ url = '/' }, response) => {
    if (url !== '/api/stream') {
      const found = url === '/api/sim/actions' ? { type: 'application/json', body: '{"actions":[]}' } : assets.get(url)
      response.writeHead(found ? 200 : 404, { 'content-type': found?.type ?? 'text/plain' }).end(found?.body)
      return
    }
    stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
    const whole = {
      ...updateOf(0),
      whole: true,
      hosts: Array.from({ length: load.hosts }, (_, i) => view(i, 0)),
      letters: []
    }
    stream.write(`data: ${JSON.stringify(whole)}\n\n`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const closers: Array<() => unknown> = []
  try {
    const browser = await startBrowser({ teardown: close => void closers.push(close) })
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } })
    await page.addInitScript(stopwatch)
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.waitForFunction('taken.length === 1')
    for (let tick = 1; tick <= load.updates; tick++) {
      stream?.write(`data: ${JSON.stringify(updateOf(tick))}\n\n`)
      await page.waitForFunction(`taken.length > ${tick}`)
    }
    const [whole = 0, ...taken] = (await page.evaluate('taken')) as number[]
    report('fleet.page.update', taken)
    report('fleet.page.first', whole)
  } finally {
    for (const close of closers) await close()
    server.closeAllConnections()
    server.close()
  }
}
