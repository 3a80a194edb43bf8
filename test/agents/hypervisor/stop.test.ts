import { join } from 'node:path'
import t from 'tap'
import { hypervisorAgent } from '../../../agents/hypervisor/agent.ts'
import { startAgent } from '../../../shared/runtime/agent.ts'

t.test('an agent that is stopped while it starts ends', async t => {
  const cluster = { server: 'https://127.0.0.1:9' }
  const kubeconfig = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'none' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c'
  }
  const folder = t.testdir({ kubeconfig: JSON.stringify(kubeconfig) })
  const env = {
    NODE_NAME: 'node-a',
    K_SINK: 'http://127.0.0.1:9/',
    KUBECONFIG: join(folder, 'kubeconfig'),
    LIBVIRT_URI: `qemu+unix:///system?socket=${join(folder, 'none')}`,
    SYSTEM_BUS: 'none',
    STATE_FOLDER: folder,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'silent'
  }
  const agent = await startAgent(hypervisorAgent, { env })
  await agent.close()
  await t.resolves(agent.ended)
})
