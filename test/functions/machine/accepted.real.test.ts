// Every object of 2,000 random Machines before the real API server with the real definitions (X5: dryRun=All, fieldValidation=Strict).
import * as fc from 'fast-check'
import t from 'tap'
import { render } from '../../../functions/machine/render.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { installMachineCrds } from '../../servers/machine-crds.ts'
import { request } from '../../servers/request.ts'
import { arbitraryNetworks, validSpec } from './arbitrary.ts'
import { machine, options } from './fixtures.ts'

t.setTimeout(120_000)
const api = await ownKubernetes(t)
await installMachineCrds(api)
const ns = api.namespace

t.test('the API server accepts every object of 2,000 random Machines', async t => {
  const queue = fc.sample(validSpec, 2000)
  const refused: string[] = []
  let objects = 0
  const known = new Set<string>()
  const send = async (path: string, apiVersion: string, kind: string, object: { metadata?: object }): Promise<void> => {
    const text = JSON.stringify({ apiVersion, kind, ...object, metadata: { ...object.metadata, namespace: ns } })
    if (known.has(text)) return // the same was judged already
    known.add(text)
    objects++
    const { status, body } = await request<{ message?: string }>(api, 'POST', `${path}?dryRun=All&fieldValidation=Strict`, text)
    if (status !== 201) refused.push(`${kind} ${status} ${body.message}`)
  }
  const work = async (): Promise<void> => {
    for (let given = queue.pop(); given; given = queue.pop()) {
      const { vm, claims, dataVolumes, attachments, secret } = render(
        machine(given),
        name => arbitraryNetworks[name],
        undefined,
        options
      )
      await send(`/apis/kubevirt.io/v1/namespaces/${ns}/virtualmachines`, 'kubevirt.io/v1', 'VirtualMachine', vm)
      for (const claim of claims)
        await send(`/api/v1/namespaces/${ns}/persistentvolumeclaims`, 'v1', 'PersistentVolumeClaim', claim)
      for (const volume of dataVolumes)
        await send(`/apis/cdi.kubevirt.io/v1beta1/namespaces/${ns}/datavolumes`, 'cdi.kubevirt.io/v1beta1', 'DataVolume', volume)
      for (const item of attachments)
        await send(
          `/apis/k8s.cni.cncf.io/v1/namespaces/${ns}/network-attachment-definitions`,
          'k8s.cni.cncf.io/v1',
          'NetworkAttachmentDefinition',
          item
        )
      if (secret) await send(`/api/v1/namespaces/${ns}/secrets`, 'v1', 'Secret', secret)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  t.strictSame(refused.slice(0, 5), [])
  t.ok(objects > 3000, `${objects} different objects`)
})
