// The machine function on a real API server with KubeVirt's, CDI's and Multus's definitions, under exactly the role of knative/machine.yaml.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import handler from '../../../functions/machine/handler.ts'
import { VirtualMachine, VirtualMachineInstance } from '../../../functions/machine/kubevirt.ts'
import { connect, PersistentVolumeClaim, type Kube } from '../../../shared/kube/index.ts'
import { RuntimeConfig } from '../../../shared/runtime/runtime-config.ts'
import { readConfig } from '../../../shared/runtime/config.ts'
import { startService, type Service } from '../../../shared/runtime/service.ts'
import { Machine } from '../../../shared/schema/machine.ts'
import type { Access } from '../../servers/access.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { request } from '../../servers/request.ts'

export interface Told {
  type: string
  id: string
  body: string
}

export interface World {
  api: Access
  admin: Kube
  kubeconfig: string
  told: Told[]
  logs: string[]
  service: Service
  /** Another replica, or the same after a crash. */
  start: (env?: Record<string, string>) => Service
  post: (service: Service, type: string, data: object, more?: Record<string, string>) => Promise<number>
  /** The Machine's own event. */
  poke: (namespace: string, name: string, service?: Service) => Promise<number>
  tick: (speed: 'fast' | 'slow', service?: Service) => Promise<number>
  find: (namespace: string, name: string) => Promise<Machine>
}

export async function openWorld(t: Test, api: Access): Promise<World> {
  const kubeconfig = await asServiceAccount(t, api, 'machine.yaml', 'kubevirt-operator-controller-manager')
  const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig, timeoutMs: 60_000 })
  t.teardown(() => admin.close())
  const told: Told[] = []
  const broker = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request)
    told.push({
      type: String(request.headers['ce-type']),
      id: String(request.headers['ce-id']),
      body: Buffer.concat(chunks).toString()
    })
    response.writeHead(202).end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => broker.close())
  await new Promise(resolve => broker.once('listening', resolve))
  const sink = `http://127.0.0.1:${(broker.address() as AddressInfo).port}`
  const logs: string[] = []
  const start = (more: Record<string, string> = {}): Service => {
    const env = { KUBECONFIG: kubeconfig, K_SINK: sink, LOG_LEVEL: 'info', ...more }
    const service = startService(handler, readConfig(RuntimeConfig, { env }), {
      env,
      logs: { write: (line: string) => void logs.push(line) }
    })
    t.teardown(() => service.close())
    return service
  }
  const service = start()
  let number = 0
  const post: World['post'] = async (to, type, data, more = {}) => {
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': String((number += 1)),
      'ce-source': '/test',
      'ce-type': type,
      ...more
    }
    return (await to.receive({ headers, body: Buffer.from(JSON.stringify(data)) })).status
  }
  const machineRef = (namespace: string, name: string) => ({
    apiVersion: 'vitistack.io/v1alpha1',
    kind: 'Machine',
    namespace,
    name
  })
  return {
    api,
    admin,
    kubeconfig,
    told,
    logs,
    service,
    start,
    post,
    poke: (namespace, name, to = service) =>
      post(to, 'io.vitistack.machine.changed.v1', machineRef(namespace, name), { 'ce-partitionkey': `${namespace}/${name}` }),
    tick: (speed, to = service) => post(to, 'dev.knative.sources.ping', { tick: speed }),
    async find(namespace, name) {
      const found = await admin.find(Machine, name, namespace)
      if (!found) throw new Error(`no Machine ${namespace}/${name}`)
      return found
    }
  }
}

/** Plays KubeVirt: the status of the VM, and an instance with its own. */
export async function playVm(
  { api }: World,
  namespace: string,
  name: string,
  printableStatus: string,
  more: object = {}
): Promise<void> {
  const status = { printableStatus, created: true, observedGeneration: 1, ...more }
  const path = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines/${name}/status`
  const { status: code, body } = await request(api, 'PATCH', path, { status }, { 'content-type': 'application/merge-patch+json' })
  if (code !== 200) throw new Error(JSON.stringify(body))
}

export async function playInstance({ admin, api }: World, namespace: string, name: string, status: object): Promise<void> {
  const vm = await admin.find(VirtualMachine, name, namespace)
  const owner = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    name,
    uid: vm?.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true
  }
  const metadata = { name, namespace, labels: vm?.spec.template.metadata?.labels ?? {}, ownerReferences: [owner] }
  const spec = vm?.spec.template.spec ?? {}
  if (!(await admin.find(VirtualMachineInstance, name, namespace))) await admin.create(VirtualMachineInstance, { metadata, spec })
  const path = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/${name}`
  const { status: code, body } = await request(api, 'PATCH', path, { status }, { 'content-type': 'application/merge-patch+json' })
  if (code !== 200) throw new Error(JSON.stringify(body))
}

/** Plays the provisioner and the binder: a volume for each claim, and each knows the other. */
export async function bindClaims({ admin, api }: World, namespace: string, names: readonly string[]): Promise<void> {
  const must = async (method: string, path: string, body: object, type = 'application/json'): Promise<void> => {
    const answer = await request(api, method, path, body, { 'content-type': type })
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
  }
  for (const name of names) {
    const claim = await admin.find(PersistentVolumeClaim, name, namespace)
    const volumeName = `${namespace}-${name}`
    await must('POST', '/api/v1/persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName },
      spec: {
        capacity: { storage: '1Ti' },
        accessModes: claim?.spec?.accessModes,
        volumeMode: claim?.spec?.volumeMode,
        storageClassName: claim?.spec?.storageClassName ?? '',
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid: claim?.metadata?.uid },
        csi: { driver: 'none.example', volumeHandle: name }
      }
    })
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`
    const merge = 'application/merge-patch+json'
    await must('PATCH', path, { spec: { volumeName } }, merge)
    await must('PATCH', `${path}/status`, { status: { phase: 'Bound' } }, merge)
  }
}

export const gone = (what: string, look: () => Promise<unknown>): Promise<true> =>
  eventually(`${what} to be gone`, async () => (await look()) === undefined, 60_000)
