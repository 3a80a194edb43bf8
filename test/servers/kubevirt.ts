// KubeVirt's own virt-api and virt-controller as plain processes beside a test's API server: its webhooks judge what we render, and its
// controller makes the instance and the launcher's pod. The test plays node and virt-handler.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Access } from './access.ts'
import { eventually } from './eventually.ts'
import { buildKubevirt } from './kubevirt-build.ts'
import { accountConfig, apply, applyPrinted, installObjects, merge, must, stubCdi } from './kubevirt-install.ts'
import { installMachineCrds } from './machine-crds.ts'
import { freePort } from './port.ts'
import { request } from './request.ts'
import type { Prepared } from './say.ts'

export const compiles = true
export const tier = 'cluster'

export async function prepare(): Promise<Prepared> {
  try {
    await buildKubevirt()
    return { ok: true }
  } catch (err) {
    return { ok: false, reason: `KubeVirt cannot be built: ${(err as Error).message}` }
  }
}

export interface Kubevirt {
  /** `PUT` of a subresource such as stop or start, as an administrator. */
  subresource(namespace: string, vm: string, verb: 'start' | 'stop'): Promise<number>
  /** Plays scheduler, kubelet and virt-handler for the instance of a VM, until it runs. */
  playNode(namespace: string, vm: string): Promise<void>
  log(part: 'virt-api' | 'virt-controller'): Promise<string>
}

export async function kubevirt(t: Test, api: Access): Promise<Kubevirt> {
  const bin = await buildKubevirt()
  const folder = await mkdtemp(join(tmpdir(), 'dv-'))
  const guard = spawn(process.execPath, [join(import.meta.dirname, 'guard.ts'), folder], { stdio: ['pipe', 'ignore', 'inherit'] })
  const log = (part: string): string => join(folder, `${part}.log`)
  const start = (part: string, command: string[]): void =>
    void guard.stdin.write(`${JSON.stringify({ start: part, command, log: log(part) })}\n`)
  await installMachineCrds(api)
  await stubCdi(api)
  await applyPrinted(api, bin, 'kubevirt-crds')
  await eventually(
    'kubevirts to be served',
    async () => (await request(api, 'GET', '/apis/kubevirt.io/v1/kubevirts')).status === 200,
    60_000
  )
  await installObjects(api)
  const controller = await accountConfig(api, folder, 'kubevirt-controller')
  const handler = await accountConfig(api, folder, 'kubevirt-handler')
  const [port, controllerPort] = [await freePort(), await freePort()]
  const files = (prefix: string) => [`--${prefix}-cert-file=${api.webhookCert}`, `--${prefix}-key-file=${api.webhookKey}`]
  const listen = (own: number) => ['--listen=127.0.0.1', `--port=${own}`]
  start('virt-api', [
    join(bin, 'virt-api'),
    ...listen(port),
    `--kubeconfig=${api.kubeconfig}`,
    ...files('tls'),
    ...files('handler')
  ])
  start('virt-controller', [
    join(bin, 'virt-controller'),
    ...listen(controllerPort),
    `--kubeconfig=${controller.file}`,
    ...files('prom')
  ])
  const base = `https://127.0.0.1:${port}`
  const [ca, cert, key] = await Promise.all([readFile(api.ca), readFile(api.webhookCert), readFile(api.webhookKey)])
  const call = (method: string, path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'content-length': '0' }
      httpsRequest(`${base}${path}`, { method, ca, cert, key, headers, checkServerIdentity: () => undefined }, response => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
        .on('error', reject)
        .end()
    })
  const up = () =>
    call('GET', '/apis/subresources.kubevirt.io/v1/healthz').then(
      status => status === 200,
      () => false
    )
  await eventually('virt-api', up, 90_000).catch(async err => {
    throw new Error(`${(err as Error).message}\n${(await readFile(log('virt-api'), 'utf8')).slice(-9000)}`)
  })
  await applyPrinted(api, bin, 'kubevirt-webhooks', [base, api.ca])
  t.teardown(async () => {
    guard.stdin.end()
    await once(guard, 'exit')
  })

  const asHandler = { authorization: `Bearer ${handler.token}`, ...merge }
  return {
    subresource: (namespace, vm, verb) =>
      call('PUT', `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachines/${vm}/${verb}`),
    log: part => readFile(log(part), 'utf8'),
    async playNode(namespace, vm) {
      const pods = `/api/v1/namespaces/${namespace}/pods`
      const node = 'played'
      await apply(api, '/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: node, labels: { 'kubevirt.io/schedulable': 'true' } }
      } as never)
      type Pod = {
        metadata: { name: string; deletionTimestamp?: string }
        spec: { nodeName?: string; containers: Array<{ name: string }> }
      }
      const pod = await eventually(
        'the launcher pod',
        async () => {
          const { body } = await request<{ items: Pod[] }>(api, 'GET', `${pods}?labelSelector=vm.kubevirt.io%2Fname%3D${vm}`)
          return body.items.find(({ metadata }) => metadata.deletionTimestamp === undefined)
        },
        60_000
      )
      const { name } = pod.metadata
      if (!pod.spec.nodeName)
        await must(
          api,
          'POST',
          `${pods}/${name}/binding`,
          { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { apiVersion: 'v1', kind: 'Node', name: node } },
          {}
        )
      const containerStatuses = pod.spec.containers.map(container => ({
        name: container.name,
        ready: true,
        restartCount: 0,
        image: 'i',
        imageID: 'i',
        state: { running: { startedAt: new Date().toISOString() } }
      }))
      const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(type => ({ type, status: 'True' }))
      await must(
        api,
        'PATCH',
        `${pods}/${name}/status`,
        { status: { phase: 'Running', podIP: '10.9.8.7', podIPs: [{ ip: '10.9.8.7' }], conditions, containerStatuses } },
        merge
      )
      const instance = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/${vm}`
      await eventually(
        'the instance to be Scheduled',
        async () => (await request<{ status?: { phase?: string } }>(api, 'GET', instance)).body.status?.phase === 'Scheduled',
        60_000
      )
      const interfaces = [{ name: 'default', ipAddress: '10.9.8.7', ipAddresses: ['10.9.8.7'] }]
      await must(api, 'PATCH', instance, { status: { phase: 'Running', interfaces } }, asHandler)
    }
  }
}
