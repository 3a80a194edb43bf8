import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { connect, Node } from '../../shared/kube/index.ts'
import { loadDocuments } from '../../shared/local/load.ts'
import { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { start } from './start.ts'

t.setTimeout(120_000)
const root = join(import.meta.dirname, '..', '..')

t.test('every function runs, under its own role; webhooks and routes reach them', async t => {
  const wired = (await loadDocuments('knative')).map(({ doc }) => doc as { kind: string; metadata: { name: string } })
  const expected = readdirSync(join(root, 'functions')).filter(
    name =>
      existsSync(join(root, 'functions', name, 'handler.ts')) &&
      wired.some(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
  )
  const drover = start(t, '--empty')
  const [, running = ''] = await drover.says(/^ {2}functions +(.+)$/m)
  t.strictSame(running.split(', '), expected.sort())
  const [, kubeconfig = ''] = await drover.says(/export KUBECONFIG=(\S+)/)
  const kube = await connect({ manager: 'test', kubeconfig })
  const network = { metadata: { name: 'both', namespace: 'default' }, spec: { bridge: { name: 'br0' }, podNetwork: true } }
  await t.rejects(kube.create(NetworkConfiguration, network as never), /bridge|podNetwork/, 'NC1')
  kube.close()
  const [, admit = ''] = await drover.says(/admission +(http:\S+\/admit)/)
  t.equal((await fetch(admit)).status, 405, 'reviews come by POST')
  const own = await connect({ manager: 'test', kubeconfig: join(dirname(kubeconfig), 'hypervisor.kubeconfig') })
  await t.rejects(own.delete(Node, { name: 'n' }), { code: 'Forbidden' }, 'no more than its role')
  t.ok((await own.list(Node)).items)
  own.close()
  t.equal(await drover.end('SIGTERM'), 0)
})
