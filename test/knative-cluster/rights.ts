// Each pod speaks as its own account, and none was refused anything in all that the suite did.
import { glob, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { rightsOf } from '../servers/rights.ts'
import { listed, type World } from './world.ts'

const root = join(import.meta.dirname, '../..')

export async function ownAccounts(t: Test, { cluster }: World): Promise<void> {
  type Speaker = { metadata: { name: string }; spec: { serviceAccountName: string } }
  const pods = await listed<Speaker>(cluster, '/api/v1/namespaces/drover/pods')
  for (const { metadata, spec } of pods) t.not(spec.serviceAccountName, 'default', metadata.name)
}

export async function nothingRefused(t: Test, { cluster }: World): Promise<void> {
  for await (const file of glob('knative/*.yaml', { cwd: root }))
    for (const document of parseAllDocuments(await readFile(join(root, file), 'utf8'))) {
      const { kind, metadata } = document.toJSON() as { kind: string; metadata?: { name: string } }
      if (kind !== 'ServiceAccount' || metadata === undefined) continue
      const { refused } = await rightsOf(cluster, basename(file), metadata.name)
      t.strictSame(refused, [], metadata.name)
    }
}
