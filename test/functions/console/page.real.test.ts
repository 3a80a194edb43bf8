// The fleet page in a real browser, on the real API server.
import t from 'tap'
import handler from '../../../functions/console/handler.ts'
import { toEvent } from '../../../functions/dead-letters/letter.ts'
import { connect, Event } from '../../../shared/kube/index.ts'
import { serve } from '../../../shared/runtime/serve.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { condition } from '../../view/fixtures.ts'
import { startBrowser } from '../../servers/chromium.ts'
import { kubernetes } from '../../servers/kubernetes.ts'
import { seriousFindings } from './axe.ts'

t.setTimeout(300_000)
const patience = 60_000
const api = await kubernetes(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const host = `${api.namespace}-a`
const setReady = (reason: string, message: string) =>
  admin.applyStatus(Hypervisor, {
    metadata: { name: host },
    status: { numInstances: 2, conditions: [condition('Ready', reason === 'Ready' ? 'True' : 'False', reason, message)] }
  })
await admin.create(Hypervisor, { metadata: { name: host, labels: { 'topology.kubernetes.io/zone': 'z1' } }, spec: {} })
t.teardown(() => admin.delete(Hypervisor, { name: host }))
await setReady('Ready', 'The host takes servers.')

const env = { KUBECONFIG: api.kubeconfig, TITLE: 'test', LOG_LEVEL: 'fatal', HOST: '127.0.0.1' }
let served = await serve(handler, { env: { ...env, PORT: '0' } })
t.teardown(() => served.close())
const { port } = new URL(served.url)

const browser = await startBrowser(t)
const page = await browser.newPage()
page.setDefaultTimeout(patience)
const faults: string[] = []
page.on('pageerror', err => faults.push(err.message))
page.on('request', request => {
  if (new URL(request.url()).host !== new URL(served.url).host) faults.push(`asked ${request.url()}`)
})

t.test('a tile follows its host', async () => {
  await page.goto(`${served.url}/#/?q=${host}`)
  await page.getByRole('link', { name: new RegExp(`${host} Ready`) }).waitFor()
  await setReady('LibVirtDown', 'The agent cannot reach libvirt.')
  await page.getByRole('link', { name: new RegExp(`${host} libvirt down`) }).waitFor()
  await page
    .getByText(/libvirt down since/)
    .first()
    .waitFor()
  await setReady('Ready', 'The host takes servers.')
  await page.getByText('libvirt down → Ready').waitFor()
})

t.test('a pulled cable is seen', async t => {
  const metadata = { name: host, namespace: api.namespace }
  await admin.create(OVSNode, { metadata, spec: { nodeRef: { name: host } } })
  t.teardown(() => admin.delete(OVSNode, metadata))
  const bonds = [{ name: 'bond0', members: 2, activeMembers: 1, status: 'Degraded' as const }]
  await admin.applyStatus(OVSNode, { metadata, status: { interfaces: { bonds } } })
  await page.getByText('bond0 1 of 2').first().waitFor()
  await page.getByRole('link', { name: 'Network', exact: true }).click()
  await page.getByText('Degraded · 1 of 2 links usable').first().waitFor()
  await page.goBack()
  t.match(page.url(), `q=${host}`, 'back to the view that was left')
})

t.test('what high availability thinks, and what was told of the host, stand on its page', async () => {
  await admin.applyStatus(Hypervisor, {
    metadata: { name: host },
    status: {
      numInstances: 2,
      conditions: [condition('Ready', 'True', 'Ready', 'The host takes servers.')],
      ha: {
        state: 'Suspect',
        waitingFor: 'a second sign',
        signals: [{ kind: 'BondLost', object: 'bond0', count: 2, effect: 'alert', message: 'one link is left' }],
        history: [
          { decisionId: 'd1', kind: 'crashed', server: 'web-1', state: 'Recovered', action: 'restart', reason: 'it runs again' }
        ]
      }
    }
  })
  const about = {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: (await admin.find(Hypervisor, host))?.metadata ?? {}
  }
  await admin.event(about, { type: 'Warning', reason: 'Test', action: 'Look', note: 'somebody looked' })
  await page.goto(`${served.url}/#/hosts/${host}`)
  await page.getByText('bond lost bond0').waitFor()
  await page.getByText('Waiting for a second sign (high availability).').waitFor()
  await page.getByText(/crashed of web-1 · restart · recovered · it runs again/).waitFor()
  await page.getByText('somebody looked').waitFor()
  await page.goto(`${served.url}/#/?q=${host}`)
})

t.test('dead letters are counted and listed, with the command that sends them again', async t => {
  const letter = toEvent(
    {
      id: '1',
      type: 'a.b.c.v1',
      source: '/x',
      subject: host,
      data: {},
      extensions: { knativeerrorcode: '503', knativeerrordest: 'http://traits.drover.svc/' }
    },
    api.namespace,
    'test',
    new Date()
  )
  await admin.create(Event, letter)
  t.teardown(() => admin.delete(Event, { name: letter.metadata?.name ?? '', namespace: api.namespace }))
  await page.getByRole('link', { name: /Dead letters \d/ }).click()
  await page.getByText(`drover deadletters replay ${letter.metadata?.name}`).waitFor()
  await page.goto(`${served.url}/#/?q=${host}`)
})

t.test('the page of a host, by keyboard, and back', async t => {
  await page.getByRole('link', { name: new RegExp(`${host} (Degraded|Ready)`) }).press('Enter')
  await page.getByRole('heading', { level: 1, name: new RegExp(host) }).waitFor()
  await page.getByText('The host takes servers.').first().waitFor()
  t.match(page.url(), `#/hosts/${host}`)
  await page.keyboard.press('Escape')
  await page.getByText('Needs a person', { exact: true }).waitFor()
})

t.test('a search that fits nothing says so, and the address keeps it', async t => {
  await page.keyboard.press('/')
  await page.keyboard.type('nothing-like-this')
  await page.getByText('No host fits.').waitFor()
  t.match(await page.evaluate('location.hash'), /q=nothing-like-this/)
  await page.goto(`${served.url}/#/?q=${host}`)
  await page
    .getByRole('link', { name: new RegExp(host) })
    .first()
    .waitFor()
})

t.test('it survives a restart of its server', async () => {
  await served.close()
  await page.getByText('connection lost, trying again').waitFor()
  served = await serve(handler, { env: { ...env, PORT: port } })
  await page.getByText(/^live/).waitFor()
  await setReady('Maintenance', 'Maintenance (manual).')
  await page.getByRole('link', { name: new RegExp(`${host} Maintenance`) }).waitFor()
})

t.test('no serious finding of accessibility, light, dark and on a phone', async t => {
  for (const [width, colorScheme] of [
    [1360, 'light'],
    [390, 'dark']
  ] as const) {
    for (const path of ['#/', `#/hosts/${host}`, '#/network', '#/machines', '#/events', '#/letters']) {
      await page.setViewportSize({ width, height: 820 })
      await page.emulateMedia({ colorScheme })
      await page.goto(`${served.url}/${path}`)
      await page.locator('main').waitFor()
      t.strictSame(await seriousFindings(page), [], `${path} at ${width}`)
    }
    const overflows = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
    t.notOk(overflows, `nothing is cut off at ${width}`)
  }
  t.strictSame(faults, [], 'no error in the page, and no other host was asked')
})
