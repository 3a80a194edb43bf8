// The CRDs as a cluster has them that knows none of these rules, so that the webhook itself is seen to refuse (design §2.6).
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Access } from '../../servers/access.ts'
import { request } from '../../servers/request.ts'
import { applied } from './webhook.ts'

const crds = join(import.meta.dirname, '../../../crds')

/** Takes these keywords out of every schema. It takes the API server a moment to go by them. */
export async function loosenCrds(api: Access, keywords: readonly string[]): Promise<void> {
  for (const file of (await readdir(crds)).filter(name => name !== 'kustomization.yaml')) {
    const crd = parse(await readFile(join(crds, file), 'utf8'), (key, value: unknown) =>
      keywords.includes(String(key)) ? undefined : value
    )
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}?fieldManager=test&force=true`
    const { status, body } = await request(api, 'PATCH', path, crd, applied)
    if (status !== 200) throw new Error(`${file}: ${JSON.stringify(body)}`)
  }
}
